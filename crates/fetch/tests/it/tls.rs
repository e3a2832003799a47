//! TLS: whose certificate is trusted.

use toolbond_fetch::DocumentErrorKind;
use toolbond_harness::files::Folder;
use toolbond_harness::tls;

use crate::addresses::{fetch_named, names};
use crate::allowing;
use crate::server::{by_path, json, redirect, start};

#[tokio::test]
async fn a_certificate_has_to_be_trusted_and_to_name_the_host() {
    let plain = start([("/b", json("{}"))]);
    let to = plain.url("/b");
    let (server, pem) = tls::start(by_path([("/a", json("{}")), ("/down", redirect(&to))]));
    let folder = Folder::new();
    let ca = folder.write("ca.pem", pem);
    let get = async |host: &str, path: &str, is_trusted: bool| {
        let url = format!("https://{host}:{}/", server.port);
        let policy = allowing(&[&url, "127.0.0.1"]);
        let policy = if is_trusted { policy.ca_file(&ca) } else { policy };
        fetch_named(policy, &names(&[&["127.0.0.1"]]), &format!("{url}{path}")).await
    };
    assert_eq!(get("localhost", "a", true).await, Ok(1));
    for (host, is_trusted) in [("localhost", false), ("other.test", true)] {
        let refused = get(host, "a", is_trusted).await.unwrap_err().to_string();
        let reason = "could not be reached: invalid peer certificate";
        assert!(refused.contains(reason), "{host}: {refused}");
    }
    // No redirect leads from `https` to `http` unless that is allowed.
    let kind = Box::new(DocumentErrorKind::NotAllowed);
    let down = get("localhost", "down", true).await;
    assert_eq!(down, Err(DocumentErrorKind::Redirected { to, kind }));
    assert_eq!(plain.connections(), 0);
}
