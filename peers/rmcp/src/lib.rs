//! Servers and clients on `rmcp` and on `toolbond` that tests run: see `examples`.
