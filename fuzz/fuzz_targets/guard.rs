//! Lines of a client and of a server, in any order: no panic, nothing unchecked leaves.
//!
//! Each line of the input starts with `c` or `s`, for who sends the rest of it.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};
use toolbond_contract::Mode;
use toolbond_guard::{Event, GuardedServer, MemoryLimit, Settings, stdio::relay};

const TOOLS: &str = r#"{"jsonrpc":"2.0","id":"tools","result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"const":1}},"additionalProperties":false},"outputSchema":{"type":"object","properties":{"n":{"const":1}},"additionalProperties":false}}]}}"#;

fuzz_target!(|bytes: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut settings = Settings::default();
        settings.results = Mode::Enforce;
        let server = GuardedServer::new("fuzz", settings, Arc::new(|_: Event| {}));
        let (client, to_client) = duplex(1 << 20);
        let (upstream, to_server) = duplex(1 << 20);
        let memory = Arc::new(MemoryLimit::default());
        let guard = relay(split(to_client), split(to_server), Arc::new(server), memory);
        let play = async {
            let (mut from_guard, mut client) = split(client);
            let (mut at_server, mut upstream) = split(upstream);
            client
                .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"tools\",\"method\":\"tools/list\"}\n")
                .await?;
            upstream.write_all(format!("{TOOLS}\n").as_bytes()).await?;
            for line in bytes.split(|byte| *byte == b'\n').take(64) {
                match line.split_first() {
                    Some((b'c', line)) => client.write_all(&[line, b"\n"].concat()).await?,
                    Some((b's', line)) => upstream.write_all(&[line, b"\n"].concat()).await?,
                    _ => tokio::task::yield_now().await,
                }
            }
            client.shutdown().await?;
            upstream.shutdown().await?;
            let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
            tokio::join!(
                at_server.read_to_end(&mut to_server),
                from_guard.read_to_end(&mut to_client)
            )
            .0?;
            for line in to_server.split(|byte| *byte == b'\n') {
                let Ok(message) = serde_json::from_slice::<serde_json::Value>(line) else {
                    continue;
                };
                let is_call = message["method"] == "tools/call" && message["params"]["name"] == "t";
                let n = &message["params"]["arguments"]["n"];
                assert!(!is_call || n.is_null() || *n == 1, "unchecked: {message}");
            }
            std::io::Result::Ok(())
        };
        let _ = tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(guard, play) })
            .await;
    });
});
