// The TypeScript SDK v1 as a server on HTTP+SSE of 2024-11-05: clients open an event stream at `/sse`, and post to the
// endpoint that it names. It listens on a free port, which it prints. `seen` returns what the tools were called with.
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const number = (limits) => ({ type: "object", properties: { n: { type: "integer", ...limits } }, required: ["n"] });
const tool = (name) => ({ name, inputSchema: number({ maximum: 10 }), outputSchema: number({}) });
const results = { double: (n) => 2 * n, lying: () => "not a number", seen: () => 0 };
const transports = new Map();
const seen = [];

const http = createServer(async (request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (request.method === "POST") {
    const transport = transports.get(url.searchParams.get("sessionId"));
    return transport ? transport.handlePostMessage(request, response) : response.writeHead(405).end();
  }
  const server = new Server({ name: "sse", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: Object.keys(results).map(tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given } }) => {
    seen.push([name, given]);
    return { content: [{ type: "text", text: JSON.stringify(seen) }], structuredContent: { n: results[name](given.n) } };
  });
  const transport = new SSEServerTransport("/messages", response);
  transports.set(transport.sessionId, transport);
  await server.connect(transport);
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
