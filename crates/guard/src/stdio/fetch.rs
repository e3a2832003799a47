//! Asking the server for its tools, between the requests of the client.

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::session::Session;
use crate::asked::Asked;
use crate::fetch::{Asks, asking};
use crate::inspector::lock;

impl Asks for Session {
    async fn page(&self, params: Map<String, Value>) -> Result<Vec<u8>, String> {
        let id = self.own_id();
        let (sender, receiver) = oneshot::channel();
        if lock(&self.open).add(id.clone(), Asked::Own(sender)).is_err() {
            return Err("no id is free".to_owned());
        }
        let line = format!("{}\n", asking(&id, params));
        let gone = || "the server is gone".to_owned();
        self.server(line.into_bytes()).await.map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())
    }
}
