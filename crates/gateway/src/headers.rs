//! Headers as Envoy sends them, and the changes that it is asked for.

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue};
use hyper::http::request;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};

use crate::wire::{
    HeaderAppendAction, HeaderMutation, HeaderValue as EnvoyHeader, HeaderValueOption, HttpHeaders,
};

/// Headers that Envoy does not let others change, or that it sets itself.
static OF_ENVOY: [HeaderName; 2] = [HOST, hyper::header::TRANSFER_ENCODING];

/// Splits what Envoy sends into pseudo-headers, such as `:path`, and headers. Fails where a header has a form that no
/// HTTP message can have.
fn split(headers: HttpHeaders) -> Result<(Vec<(String, Bytes)>, HeaderMap), String> {
    let mut pseudo = Vec::new();
    let all = headers.headers.map(|all| all.headers).unwrap_or_default();
    let mut map = HeaderMap::with_capacity(all.len());
    for EnvoyHeader { key, value, raw_value } in all {
        let value = if raw_value.is_empty() { value.into_bytes() } else { raw_value };
        if key.starts_with(':') {
            pseudo.push((key, value.into()));
            continue;
        }
        let name = HeaderName::from_bytes(key.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_maybe_shared(Bytes::from(value)))
        else {
            let key: String = key.chars().take(60).collect();
            return Err(format!("Envoy sent a header of a wrong form: {key}"));
        };
        map.append(name, value);
    }
    Ok((pseudo, map))
}

fn pseudo_header<'a>(
    pseudo: &'a [(String, Bytes)],
    name: &str,
) -> Result<Option<&'a Bytes>, String> {
    let mut found = pseudo.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
    match (found.next(), found.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(format!("Envoy sent {name} twice")),
    }
}

/// The head of a request.
pub(super) fn request_head(headers: HttpHeaders) -> Result<request::Parts, String> {
    let (pseudo, map) = split(headers)?;
    let get = |name| pseudo_header(&pseudo, name);
    let wrong = |name: &'static str| move || format!("Envoy sent no {name} that can be read");
    let method = get(":method")?.and_then(|method| Method::from_bytes(method).ok());
    let path = get(":path")?.and_then(|path| Uri::from_maybe_shared(path.clone()).ok());
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = method.ok_or_else(wrong(":method"))?;
    parts.uri = path.ok_or_else(wrong(":path"))?;
    parts.headers = map;
    if let Some(authority) = get(":authority")?
        && let Ok(authority) = HeaderValue::from_maybe_shared(authority.clone())
    {
        parts.headers.entry(HOST).or_insert(authority);
    }
    Ok(parts)
}

/// The head of a response, with this body.
pub(super) fn response_head<B>(headers: HttpHeaders, body: B) -> Result<Response<B>, String> {
    let (pseudo, map) = split(headers)?;
    let status = pseudo_header(&pseudo, ":status")?;
    let status = status.and_then(|status| StatusCode::from_bytes(status).ok());
    let mut response = Response::new(body);
    *response.status_mut() = status.ok_or("Envoy sent no :status that can be read")?;
    *response.headers_mut() = map;
    Ok(response)
}

/// How `before` becomes `after`. The length of the body is left to [`correct_length`].
pub(super) fn changes(before: &HeaderMap, after: &HeaderMap) -> HeaderMutation {
    let is_ours = |name: &HeaderName| !OF_ENVOY.contains(name) && name != CONTENT_LENGTH;
    let mut mutation = HeaderMutation::default();
    for name in after.keys().filter(|name| is_ours(name)) {
        if before.get_all(name).iter().eq(after.get_all(name).iter()) {
            continue;
        }
        for (index, value) in after.get_all(name).iter().enumerate() {
            set(&mut mutation, name.as_str(), value.as_bytes(), index > 0);
        }
    }
    for name in before.keys().filter(|name| is_ours(name) && !after.contains_key(*name)) {
        mutation.remove_headers.push(name.as_str().to_owned());
    }
    mutation
}

/// Sets the status of a response.
pub(super) fn set_status(mutation: &mut HeaderMutation, status: StatusCode) {
    set(mutation, ":status", status.as_str().as_bytes(), false);
}

/// Corrects the length in headers that have one, for a body of this `length`; one that is not known is left out.
///
/// Without a length Envoy sends a body in chunks, which some servers do not read.
pub(super) fn correct_length(
    mutation: &mut HeaderMutation,
    before: &HeaderMap,
    length: Option<usize>,
) {
    let Some(found) = before.get(CONTENT_LENGTH) else { return };
    match length.map(|length| length.to_string()) {
        Some(length) if found.as_bytes() == length.as_bytes() => {}
        Some(length) => set(mutation, CONTENT_LENGTH.as_str(), length.as_bytes(), false),
        None => mutation.remove_headers.push(CONTENT_LENGTH.as_str().to_owned()),
    }
}

fn set(mutation: &mut HeaderMutation, name: &str, value: &[u8], is_added: bool) {
    let action = if is_added {
        HeaderAppendAction::AppendIfExistsOrAdd
    } else {
        HeaderAppendAction::OverwriteIfExistsOrAdd
    };
    mutation.set_headers.push(HeaderValueOption {
        header: Some(EnvoyHeader {
            key: name.to_owned(),
            raw_value: value.to_vec(),
            ..EnvoyHeader::default()
        }),
        append_action: action.into(),
        keep_empty_value: true,
    });
}
