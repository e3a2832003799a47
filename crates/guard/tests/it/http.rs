//! A guard on HTTP, with a client and a server that the test plays.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use toolbond_guard::{
    Backend, GuardedServer, Listener, MemoryLimit, Proxy, Router, Routes, Settings,
};
use toolbond_guard::{Client as Connector, Hosts};
use toolbond_harness::http::{Connection, HttpServer, Request};
use toolbond_harness::wait::HANG;

use crate::pair::runtime;

/// Serves `backend` on a free port, which is returned.
pub(crate) fn serve(backend: impl FnOnce() -> Backend + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = async move {
        let router = Router::new(Routes::one(backend(), Hosts::new([])));
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        Arc::new(router).serve(listener, Box::pin(std::future::pending())).await;
    };
    thread::spawn(|| runtime().block_on(serve));
    port
}

pub(crate) fn guarded(settings: Settings, listener: Arc<dyn Listener>) -> Arc<GuardedServer> {
    Arc::new(GuardedServer::new("server", settings, listener))
}

/// A client with one request at a time.
pub(crate) struct Client {
    pub(crate) port: u16,
    /// The request line and the headers.
    pub(crate) head: String,
    open: Option<Connection>,
}

impl Client {
    pub(crate) fn new(port: u16, more: &str) -> Self {
        let head = format!("POST /mcp HTTP/1.1\r\naccept: application/json{more}");
        Self { port, head, open: None }
    }

    pub(crate) fn send(&mut self, text: &str) {
        let head = format!("{}\r\nconnection: close", self.head);
        self.open = Some(Connection::open(self.port, &head, text.as_bytes()));
    }

    /// Head and body of the response.
    pub(crate) fn receive(&mut self) -> (String, String) {
        let answer = self.open.take().unwrap().rest();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

/// The bytes of a response, and whether the connection ends with them.
type Answer = (Vec<u8>, bool);

/// A guard in front of a server that answers what it is told to.
pub(crate) struct Http {
    pub(crate) client: Client,
    /// The port of the server.
    pub(crate) server: u16,
    asked: Receiver<Request>,
    answers: Sender<Answer>,
}

impl Http {
    /// `more` headers are those of all requests, each after `\r\n`.
    pub(crate) fn new(settings: Settings, listener: Arc<dyn Listener>, more: &str) -> Self {
        let ((asks, asked), (answers, answer)) = (channel(), channel::<Answer>());
        let answer = Mutex::new(answer);
        let server = HttpServer::start(move |request, reply| {
            let _ = asks.send(request.clone());
            let Ok((bytes, is_over)) = answer.lock().unwrap().recv() else { return Ok(()) };
            reply.close();
            reply.raw(&bytes)?;
            if !is_over {
                reply.hang();
            }
            Ok(())
        });
        let url = server.url("/mcp");
        let guarded = guarded(settings, listener);
        let port = serve(move || {
            let (connector, memory) = (Connector::new(None).unwrap(), MemoryLimit::default());
            let proxy = Proxy::new(&url, connector, guarded, Arc::new(memory)).unwrap();
            Backend::Proxy(Arc::new(proxy))
        });
        Self { client: Client::new(port, more), server: server.port, asked, answers }
    }

    /// The next request that the server gets.
    pub(crate) fn asked(&self) -> Request {
        self.asked.recv_timeout(HANG).unwrap()
    }

    /// The server answers its next request with `bytes`, and closes the connection.
    pub(crate) fn answer(&self, bytes: &[u8]) {
        self.answers.send((bytes.to_vec(), true)).unwrap();
    }

    /// The client posts `question`, the server gets it as it is and writes `out`: the request that the server got, and
    /// the head and body that the client gets.
    pub(crate) fn exchange(&mut self, question: &str, out: &[u8]) -> (Request, String, String) {
        self.answer(out);
        self.client.send(question);
        let asked = self.asked();
        assert_eq!(String::from_utf8_lossy(&asked.body), question);
        let (head, body) = self.client.receive();
        (asked, head, body)
    }

    /// The same with an answer that does not end: the connection of the client, after the first event.
    pub(crate) fn wait(&mut self, question: &str, out: &[u8]) -> Connection {
        self.answers.send((out.to_vec(), false)).unwrap();
        self.client.send(question);
        self.asked();
        let mut connection = self.client.open.take().unwrap();
        connection.wait_for("wait");
        connection
    }
}

/// A response with these headers, each before `\r\n`, and all that follows as its body.
pub(crate) fn response(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{headers}connection: close\r\n\r\n").as_bytes(), body].concat()
}

/// A response that is JSON.
pub(crate) fn json(body: &[u8], more: &str) -> Vec<u8> {
    response(&format!("content-type: application/json\r\n{more}"), body)
}

/// A response that is an event stream.
pub(crate) fn events(body: &[u8]) -> Vec<u8> {
    response("content-type: text/event-stream\r\n", body)
}
