//! The plain server on standard input and output.

use std::io::{BufRead as _, BufReader, Write as _, stdin, stdout};
use std::thread;

use super::{Reply, Server};

/// Serves until standard input ends.
pub(crate) fn serve(with_costly: bool, list: Option<&str>) -> anyhow::Result<()> {
    let mut server = Server::new(with_costly);
    if let Some(list) = list {
        server.tools.take_list(list)?;
    }
    let mut input = BufReader::with_capacity(64 << 10, stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        match server.reply("", &line) {
            Reply::Nothing => {}
            Reply::Answer(answer) => send(&answer)?,
            Reply::Later(delay, answer) => {
                thread::spawn(move || {
                    thread::sleep(delay);
                    send(&answer)
                });
            }
            Reply::Notices { count, notice, answer } => {
                thread::spawn(move || {
                    for _ in 0..count {
                        send(&notice)?;
                    }
                    send(&answer)
                });
            }
            Reply::Deaf(answer) => {
                send(&answer)?;
                // Until the process is ended.
                loop {
                    thread::park();
                }
            }
        }
    }
}

fn send(message: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    out.write_all(message)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
