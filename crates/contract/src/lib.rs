//! Tool contracts: judging, projecting and lifting MCP tools and results.
