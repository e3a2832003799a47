// The TypeScript SDK v1 as a server on HTTP, without sessions, that writes down each call, and each client that listens:
// `fleet.mjs RECORD HOST:PORT VERSION`.
//
// `add` only reads, `append` must not run twice, `lies` breaks its output schema, `current` takes and gives the current
// version, and `bump` raises that and tells everyone who listens that the tool list has changed.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [record, address, first] = process.argv.slice(2);
const [host, port] = address.split(":");
let version = Number(first);
const listeners = new Set();

const object = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const tools = () => [
  { name: "add", annotations: { readOnlyHint: true }, inputSchema: object({ a: { type: "integer" }, b: { type: "integer" } }), outputSchema: object({ sum: { type: "integer" } }) },
  { name: "append", inputSchema: object({ key: { type: "string" } }), outputSchema: object({ key: { type: "string" } }) },
  { name: "lies", annotations: { readOnlyHint: true }, inputSchema: object({}), outputSchema: object({ n: { type: "integer" } }) },
  { name: "current", annotations: { idempotentHint: true }, inputSchema: object({ v: { const: version } }), outputSchema: object({ v: { const: version } }) },
  { name: "bump", inputSchema: object({}) },
];

const results = {
  add: ({ a, b }) => ({ sum: a + b }),
  append: ({ key }) => ({ key }),
  lies: () => ({ n: "evil" }),
  current: () => ({ v: version }),
  bump: () => {
    version += 1;
    for (const listener of listeners) listener.sendToolListChanged();
    return { v: version };
  },
};

function create() {
  const server = new Server({ name: "fleet", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: tools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    appendFileSync(record, `${JSON.stringify([params.name, params.arguments, version])}\n`);
    return { content: [], structuredContent: results[params.name](params.arguments) };
  });
  return server;
}

const http = createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  const server = create();
  await server.connect(transport);
  if (request.method === "GET") {
    listeners.add(server);
    appendFileSync(record, '["listen"]\n');
    response.on("close", () => listeners.delete(server));
  }
  await transport.handleRequest(request, response);
});
http.listen(Number(port), host, () => console.log(http.address().port));
