//! Peers that break off, and peers that break the protocol.

use serde_json::json;
use toolbond_contract::Mode;
use toolbond_guard::Settings;
use toolbond_guard::stdio::End;

use crate::pair::Pair;

fn small() -> Settings {
    let mut settings = Settings::default();
    settings.max_message = 1000;
    settings
}

#[tokio::test]
async fn a_server_that_ends_leaves_no_request_open() {
    let mut pair = Pair::new(Settings::default());
    pair.passes(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).await;
    pair.passes(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    // Held: its tool is not known, and the server ends instead of listing it.
    pair.client
        .send(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t"}}"#)
        .await;
    assert_eq!(pair.server.json().await["method"], "tools/list");
    pair.server.close().await;
    for id in [json!(3), json!("a"), json!(2)] {
        let answer = pair.client.json().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"]["code"], -32603);
        let message = &answer["error"]["message"];
        assert_eq!(message, "the server closed its output before it answered");
    }
    assert_eq!(pair.end().await, End::Server);
}

#[tokio::test]
async fn ten_thousand_open_requests_are_answered_when_the_server_ends() {
    const MANY: usize = 10_000;
    let mut pair = Pair::new(Settings::default());
    for id in 0..MANY {
        pair.passes(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
    }
    pair.server.close().await;
    for id in 0..MANY {
        assert_eq!(pair.client.json().await["id"], id);
    }
    assert_eq!(pair.end().await, End::Server);
}

#[tokio::test]
async fn chatter_is_left_out_and_the_session_goes_on() {
    let mut pair = Pair::new(Settings::default());
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.server.send("Server running on stdio").await;
    pair.server.send_bytes(b"\xff\xfe\x00\n").await;
    pair.server.send("[INFO] a request came").await;
    pair.server.send("{'level': 'info'}").await;
    pair.comes(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(
        pair.said()[0],
        "warning: server: skipped output that is not a message: `Server running on stdio`"
    );
}

#[tokio::test]
async fn a_broken_message_answers_what_is_open() {
    let mut pair = Pair::new(Settings::default());
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.server.send(r#"{"jsonrpc":"2.0","id":1,"result":{"#).await;
    let answer = pair.client.json().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["error"]["message"], "the server sent a broken message");
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.comes(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
}

#[tokio::test]
async fn a_broken_message_answers_the_request_that_it_names() {
    let nan = r#"{"jsonrpc":"2.0","id":1,"result":{"n":NaN}}"#;
    let pings = [1, 2].map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    let mut pair = Pair::new(Settings::default());
    for ping in &pings {
        pair.passes(ping).await;
    }
    pair.server.send(nan).await;
    let answer = pair.client.json().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["error"]["message"], "the server sent a broken message");
    pair.comes(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    // It names none: it may be the answer to any.
    for ping in &pings {
        pair.passes(ping).await;
    }
    pair.server.send(r#"{"result":{"content":[{"type":"te"#).await;
    assert_eq!(pair.client.json().await["id"], 1);
    assert_eq!(pair.client.json().await["id"], 2);

    let mut pair = Pair::new(Settings::off());
    pair.passes(&pings[0]).await;
    pair.comes(nan).await;
    pair.comes("[INFO] a request came").await;
}

#[tokio::test]
async fn an_answer_to_no_open_request_is_left_out() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"n":"x"}}}"#;
    let list = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"properties":{"n":{"type":"integer"}}}}]}"#;
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    let mut pair = Pair::new(settings);
    pair.client.send(call).await;
    let asked = pair.server.json().await;
    assert_eq!(asked["method"], "tools/list");
    // Not sent yet.
    pair.server.send(result).await;
    let list = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{list}}}"#, asked["id"]);
    pair.server.send(&list).await;
    assert_eq!(pair.server.json().await["method"], "tools/call");
    pair.comes(r#"{"id":1,"error":{"code":1,"message":"no"}}"#).await;
    // Answered before; ids that some client takes for it; no id at all.
    for id in ["1", r#""\ufeff1""#, r#""１""#, "null"] {
        pair.server.send(&result.replace("1,\"res", &format!("{id},\"res"))).await;
    }
    pair.server.send(&format!("[{result}]")).await;
    pair.comes(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#).await;
    let said = "info: server: dropped an answer to request 1, which is not pending";
    assert_eq!(pair.said().iter().filter(|line| *line == said).count(), 3, "{:?}", pair.said());
}

#[tokio::test]
async fn a_message_that_is_too_long_is_answered_for() {
    let mut pair = Pair::new(small());
    let long = "x".repeat(5_000_000);
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.passes(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    pair.server.send(&format!(r#"{{"result":{{"x":"{long}"}},"id":1}}"#)).await;
    let answer = pair.client.json().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(
        answer["error"]["message"],
        "message of 5000027 bytes exceeds the limit of 1000 (--max-message)"
    );
    pair.comes(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;

    pair.client.send(&format!(r#"{{"method":"ping","x":"{long}","id":3}}"#)).await;
    assert_eq!(pair.client.json().await["id"], 3);
    pair.passes(r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#).await;
}

#[tokio::test]
async fn a_client_that_sends_no_message_is_told() {
    let mut pair = Pair::new(Settings::default());
    pair.client.send("hello").await;
    assert_eq!(pair.client.json().await["error"]["code"], -32700);
    pair.client.send(r#"{"id":1,"method":"a","method":"b"}"#).await;
    assert_eq!(pair.client.json().await["error"]["code"], -32600);
    pair.client.send(r#"{"id":1,"method":"tools/call","params":{"name":7}}"#).await;
    assert_eq!(pair.client.json().await["error"]["code"], -32602);
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let mut pair = Pair::new(Settings::default());
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.client.send(r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/list"}"#).await;
    assert_eq!(pair.client.json().await["error"]["code"], -32600);
}

#[tokio::test]
async fn a_client_that_closes_its_side_still_gets_its_answers() {
    let mut pair = Pair::new(Settings::default());
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    pair.client.close().await;
    assert_eq!(pair.server.line().await, "");
    pair.comes(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    pair.server.close().await;
    assert_eq!(pair.client.line().await, "");
    assert_eq!(pair.end().await, End::Server);
}

#[tokio::test]
async fn a_client_that_is_gone_ends_the_relay() {
    let Pair { client, mut server, relay, .. } = Pair::new(Settings::default());
    drop(client);
    assert_eq!(server.line().await, "");
    assert_eq!(relay.await.unwrap(), End::Client);
}
