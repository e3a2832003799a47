//! TLS for a server on `localhost`, with a certificate that is made for the test.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::http::{HttpServer, Reply, Request};

/// Starts a server, as [`HttpServer::start`] does, on https: also returns its certificate, as PEM.
pub fn start(
    answer: impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static,
) -> (HttpServer, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let wrap = move |stream: TcpStream| {
        StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (HttpServer::on(listener, wrap, answer), made.cert.pem())
}
