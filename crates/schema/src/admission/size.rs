//! Depth and size of schemas.

use serde_json::Value;

use crate::{Options, Pointer, SchemaError, SchemaErrorKind, engine::nesting};

/// Counts the bytes of compact JSON without keeping them.
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes of `value`, written as compact JSON.
pub(crate) fn written_bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    // A `Value` whose depth was checked can always be written.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Checks depth and size before anything else looks at the schema or at the documents.
pub(crate) fn measure(options: &Options, schema: &Value) -> Result<usize, SchemaError> {
    let limits = &options.limits;
    let mut bytes = 0;
    for document in options.documents.iter().map(|(_, document)| document).chain([schema]) {
        let at_root = |kind| SchemaError { pointer: Pointer::root(), kind };
        let depth = nesting(document, limits.depth);
        if depth > limits.depth {
            let pointer = deepest(document, limits.depth);
            let kind = SchemaErrorKind::Depth { found: depth, limit: limits.depth };
            return Err(SchemaError { pointer, kind });
        }
        bytes = written_bytes(document);
        if bytes > limits.bytes {
            return Err(at_root(SchemaErrorKind::Bytes { found: bytes, limit: limits.bytes }));
        }
    }
    Ok(bytes)
}

/// Where `value` first nests more than `limit` containers.
fn deepest(value: &Value, limit: usize) -> Pointer {
    let mut pointer = Pointer::root();
    let mut value = value;
    for left in (0..limit).rev() {
        let next = match value {
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                (nesting(item, left) > left).then(|| (index.to_string(), item))
            }),
            Value::Object(members) => members.iter().find_map(|(name, item)| {
                (nesting(item, left) > left).then(|| (name.clone(), item))
            }),
            _ => None,
        };
        let Some((token, inner)) = next else { break };
        pointer.push(token);
        value = inner;
    }
    pointer
}
