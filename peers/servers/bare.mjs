// A server without an SDK that sends what its author wrote, whatever the client can read: output
// schemas and values that are no objects, and with `--bad` tools that no client can use, with `--unusable` one that a guard leaves out.
// On standard input and output, or with `--http` (and `--sse`) on a free port, which it prints. With `--paged` its list has pages of two,
// with `--natural` it knows no handshake, with `--locked` it wants a key, and `/ended` tells how many sessions were ended.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const object = { type: "object", properties: {} };
const person = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } }, required: ["id", "name"] };
let cancelled = 0;
const tools = [
  { name: "forecast", inputSchema: object, outputSchema: { type: "array", items: { $ref: "#/$defs/Day" }, $defs: { Day: { type: "object", properties: { day: { type: "string" } }, required: ["day"] } } } },
  { name: "count", inputSchema: object, outputSchema: { type: "integer" } },
  { name: "find_person", inputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }, outputSchema: { anyOf: [person, { type: "null" }] } },
  { name: "shape", inputSchema: object, outputSchema: { anyOf: [{ type: "object", properties: { radius: { type: "number" } }, required: ["radius"] }, { type: "object", properties: { w: { type: "number" } }, required: ["w"] }] } },
  { name: "ranged", inputSchema: { type: "object", properties: { n: { type: "integer", maximum: 10 }, code: { type: "string", pattern: "^[a-z]{3}$" } }, required: ["n"] }, outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  { name: "lying", inputSchema: object, outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false } },
  { name: "undeclared", inputSchema: object },
];
if (process.argv.includes("--bad")) {
  tools.splice(2, 0, { name: "no_input", inputSchema: null }, { name: "remote", inputSchema: object, outputSchema: { $ref: "http://127.0.0.1:9/x.json" } });
}
if (process.argv.includes("--unusable")) {
  tools.push({ name: "stray", inputSchema: { $ref: "http://127.0.0.1:9/x.json" } });
}

const values = {
  forecast: () => [{ day: "monday" }, { day: "tuesday" }],
  count: () => 42,
  find_person: ({ id }) => (id === 1 ? { id: 1, name: "Ada" } : null),
  shape: () => ({ radius: 2 }),
  ranged: (value) => value,
  lying: () => ({ n: "not a number", extra: true }),
  undeclared: () => [1, 2, 3],
  remote: () => ({ any: "thing" }),
};

function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      if (process.argv.includes("--natural")) return undefined;
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bare", version: "1" } };
    case "server/discover":
      if (!process.argv.includes("--natural")) return undefined;
      return { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, _meta: { "io.modelcontextprotocol/serverInfo": { name: "bare", version: "1" } } };
    case "tools/list":
      if (process.argv.includes("--natural") && !params._meta?.["io.modelcontextprotocol/protocolVersion"]) return undefined;
      if (process.argv.includes("--paged")) {
        const from = Number(params.cursor ?? 0);
        return { tools: tools.slice(from, from + 2), nextCursor: from + 2 < tools.length ? String(from + 2) : undefined };
      }
      return { tools };
    case "tools/call": {
      const value = values[params.name]?.(params.arguments ?? {});
      if (value === undefined) return undefined;
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    }
    case "ping":
    case "bare/ping":
      return cancelled ? { cancelled } : {};
    default:
      return undefined;
  }
}

function respond(message) {
  const result = answer(message);
  const body = result === undefined ? { error: { code: -32602, message: "not found" } } : { result };
  return { jsonrpc: "2.0", id: message.id, ...body };
}

const waiting = [];
let ended = 0;

async function http(request, response) {
  if (request.url === "/ended") return response.end(String(ended));
  if (process.argv.includes("--locked") && request.headers.authorization !== "Bearer key") return response.writeHead(401).end();
  if (request.method === "DELETE") {
    ended += 1;
    return response.writeHead(204).end();
  }
  if (!process.argv.includes("--natural")) response.setHeader("mcp-session-id", request.headers["mcp-session-id"] ?? "session-1");
  response.setHeader("x-seen", ["authorization", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-a"].map((name) => request.headers[name] ?? "-").join(" "));
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 1\ndata: {"jsonrpc":"2.0",  "method":"notifications/message"}\n\n');
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const message = JSON.parse(Buffer.concat(chunks).toString());
  const asked = [message].flat().filter((message) => message.id !== undefined);
  if (asked.length === 0) return response.writeHead(202).end();
  const answers = asked.map(respond);
  const text = JSON.stringify(Array.isArray(message) ? answers : answers[0]);
  if (!process.argv.includes("--sse")) {
    response.writeHead(200, { "content-type": "application/json" }).end(text);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`: hello\n\nevent: message\nid: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\nevent: mess`);
  setTimeout(() => response.end(`age\nid: 2\ndata: ${text}\n\n`), 5);
}

if (process.argv.includes("--http")) {
  const server = createServer(http).listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.method === "notifications/cancelled" && waiting.includes(message.params?.requestId)) cancelled += 1;
    if (message.id === undefined || message.method === undefined) continue;
    // Not in the list: its answer waits for the next `ping`, which is `bare/ping` from 2026-07-28 on.
    if (message.params?.name === "wait") {
      waiting.push(message.id);
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: message.params._meta?.progressToken, progress: 1 } })}\n`);
      continue;
    }
    if (message.method.endsWith("ping")) {
      for (const id of waiting.splice(0)) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [], waited: process.pid } })}\n`);
    }
    process.stdout.write(`${JSON.stringify(respond(message))}\n`);
  }
}
