//! Bundling what a server has.

use serde_json::json;
use toolbond_fetch::Fetcher;
use toolbond_schema::{Options, Schema};

use crate::at;
use crate::server::{json as document, redirect, start};

#[tokio::test]
async fn a_bundle_refers_to_nothing_outside_itself() {
    let person = json!({
        "type": "object",
        "properties": { "home": { "$ref": "address.json#/$defs/street" }, "friend": { "$ref": "#" } },
        "required": ["home"]
    });
    let server = start([
        ("/person.json", redirect("/v2/person.json")),
        ("/v2/person.json", document(&person.to_string())),
        ("/v2/address.json", document("{\"$defs\":{\"street\":{\"type\":\"string\"}}}")),
    ]);
    let fetcher = Fetcher::new(at(&server)).unwrap();
    let schema = json!({ "items": { "$ref": server.url("/person.json") } });
    let bundled = fetcher.bundle(&schema, None).await.unwrap();
    let alone = Schema::compile(&bundled).unwrap();
    let direct = json!({ "items": { "$ref": server.url("/v2/person.json") } });
    let mut options = Options::default();
    for document in fetcher.documents(&direct, None).await.unwrap() {
        options = options.document(document.uri, (*document.value).clone());
    }
    let together = options.compile(&direct).unwrap();
    for (value, is_valid) in [
        (json!([{ "home": "a", "friend": { "home": "b" } }]), true),
        (json!([{ "home": 1 }]), false),
        (json!([{ "home": "a", "friend": { "home": 1 } }]), false),
        (json!([{}]), false),
    ] {
        assert_eq!(alone.is_valid(&value), is_valid, "{value}");
        assert_eq!(together.is_valid(&value), is_valid, "{value}");
    }
    assert_eq!(server.connections(), 4);
    let again = fetcher.bundle(&bundled, None).await.unwrap();
    assert!(matches!(again, std::borrow::Cow::Borrowed(_)));
    assert_eq!(server.connections(), 4);
}
