// A server without an SDK that lists the tools of a file as they are: `listed.mjs FILE`, on standard input and output.
// It speaks the revisions before 2026-07-28, or with `modern` that one alone.
//
// FILE is JSON: `tools`, and `answers`, by the name of a tool what a call is answered, `result` or `error`. Other tools
// answer with their name.
import fs from "node:fs";
import { createInterface } from "node:readline";

const { tools, answers = {} } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const isModern = process.argv[3] === "modern";
const complete = isModern ? { resultType: "complete" } : {};
const serverInfo = { name: "listed", version: "1" };
const capabilities = { tools: {} };

function answer({ method, params = {} }) {
  if (method === "initialize" && isModern) {
    const data = { supported: ["2026-07-28"], requested: params.protocolVersion };
    return { error: { code: -32022, message: "unsupported protocol version", data } };
  }
  if (method === "server/discover" && !isModern) return { error: { code: -32601, message: "method not found" } };
  switch (method) {
    case "initialize":
      return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } };
    case "server/discover":
      return { result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities, _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } } };
    case "tools/list":
      return { result: { ...complete, tools, ...(isModern && { ttlMs: 0, cacheScope: "private" }) } };
    case "tools/call": {
      const known = Object.hasOwn(answers, params.name) && answers[params.name];
      const text = `called ${params.name.length > 20 ? `${params.name.slice(0, 8)}… (${params.name.length})` : params.name}`;
      const { result = { content: [{ type: "text", text }] }, error } = known || {};
      return error ? { error } : { result: { ...complete, ...result } };
    }
    case "ping":
      return { result: {} };
    default:
      return { error: { code: -32601, message: "method not found" } };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer(message) }));
});
