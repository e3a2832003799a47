//! Requests to a receiver.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;
use toolbond_fetch::error_chain;
use toolbond_fetch::tls::{TrustError, client_config};

use crate::environment::Export;
use crate::failures::Failures;

/// The most bytes of an answer that are read.
const MAX_ANSWER: usize = 64 << 10;

/// Sends the requests of one signal. They run on a thread of their own, because those of the batches have no runtime.
#[derive(Debug)]
pub(crate) struct Client {
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Handle,
    timeout: Duration,
    failures: Arc<Failures>,
}

impl Client {
    pub(crate) fn new(
        export: &Export,
        runtime: Handle,
        failures: Arc<Failures>,
    ) -> Result<Self, TrustError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_config(export.certificate.as_deref())?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let http = legacy::Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { http, runtime, timeout: export.timeout, failures })
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let place = place(request.uri());
        let (http, timeout) = (self.http.clone(), self.timeout);
        let work = self.runtime.spawn(async move {
            match tokio::time::timeout(timeout, exchange(http, request)).await {
                Ok(answer) => answer,
                Err(_) => Err(format!("no answer within {} ms", timeout.as_millis())),
            }
        });
        // The process is ending.
        let Ok(answer) = work.await else { return Err("cancelled".into()) };
        match &answer {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.failures.add(&place, &format!("status {}", response.status())),
            Err(reason) => self.failures.add(&place, reason),
        }
        answer.map_err(Into::into)
    }
}

async fn exchange(
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, String> {
    let response = http.request(request.map(Full::new)).await;
    let (parts, body) = response.map_err(|error| error_chain(&error))?.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body.map_err(|error| error_chain(&*error))?.to_bytes();
    Ok(Response::from_parts(parts, body))
}

/// `uri` without the parts that may be secret.
fn place(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", uri.scheme_str().unwrap_or_default(), uri.path())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_password_is_not_part_of_the_place() {
        let uri = "http://me:secret@127.0.0.1:4318/v1/logs?key=secret".parse().unwrap();
        assert_eq!(place(&uri), "http://127.0.0.1:4318/v1/logs");
    }
}
