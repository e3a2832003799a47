// A server without an SDK whose tools break their output schemas: `breaks.mjs FILE legacy|modern [--http]`, on standard
// input and output or on a free port, which it prints. It speaks the revisions before 2026-07-28, or that one alone.
//
// FILE is JSON: `tools`, and `answers`, by the name of a tool the `result` of a call.
import fs from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [file, era] = process.argv.slice(2);
const { tools, answers } = JSON.parse(fs.readFileSync(file, "utf8"));
const isModern = era === "modern";
const complete = isModern ? { resultType: "complete" } : {};
const serverInfo = { name: "breaks", version: "1" };
const capabilities = { tools: {} };
const unknown = { error: { code: -32601, message: "method not found" } };

function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      if (!isModern) return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } };
      return { error: { code: -32022, message: "unsupported protocol version", data: { supported: ["2026-07-28"], requested: params.protocolVersion } } };
    case "server/discover":
      if (!isModern) return unknown;
      return { result: { ...complete, supportedVersions: ["2026-07-28"], capabilities, ttlMs: 60_000, cacheScope: "public", _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } } };
    case "tools/list":
      return { result: { ...complete, tools, ...(isModern && { ttlMs: 0, cacheScope: "public" }) } };
    case "tools/call":
      return { result: { ...complete, ...answers[params.name].result } };
    case "ping":
      return { result: {} };
    default:
      return unknown;
  }
}

const respond = (message) => JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer(message) });
const isRequest = ({ id, method }) => id !== undefined && method !== undefined;

async function http(request, response) {
  if (request.method !== "POST") return response.writeHead(405).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const message = JSON.parse(Buffer.concat(chunks));
  if (!isRequest(message)) return response.writeHead(202).end();
  const isRefused = (message.method === "initialize") === isModern && ["initialize", "server/discover"].includes(message.method);
  return response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" }).end(respond(message));
}

if (process.argv.includes("--http")) {
  const server = createServer(http).listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (isRequest(message)) console.log(respond(message));
  });
}
