//! What any process in between costs: one that copies bytes and looks at none.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;

use anyhow::Context as _;

use crate::serve::say_port;

/// Copies what comes on a free port, which is printed, to the server on the port `to`, and back, until the process is
/// ended.
pub(crate) fn on_http(to: u16) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    say_port(listener.local_addr()?.port())?;
    for client in listener.incoming() {
        let (client, server) = (client?, TcpStream::connect(("127.0.0.1", to))?);
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (back, forth) = (server.try_clone()?, client.try_clone()?);
        thread::spawn(move || copy(forth, server));
        thread::spawn(move || copy(back, client));
    }
    Ok(())
}

/// Copies standard input to the server that `command` starts, and its output back, until one ends.
pub(crate) fn on_stdio(command: &[String]) -> anyhow::Result<()> {
    let mut server = toolbond_harness::process::command(command);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let streams = server.stdin.take().zip(server.stdout.take());
    let (stdin, stdout) = streams.context("no standard streams")?;
    thread::spawn(move || copy(io::stdin(), stdin));
    copy(stdout, io::stdout())?;
    server.wait()?;
    Ok(())
}

/// `io::copy` would have the kernel do it, which no one who looks at messages can.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&bytes[..count])?;
        to.flush()?;
    }
}
