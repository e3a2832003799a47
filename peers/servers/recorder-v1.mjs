// The TypeScript SDK v1 as a server whose tool writes down what it is called with: `recorder-v1.mjs RECORD`.
// On standard input and output, or on a free port, which it prints: with `--http` under the path that `new URL` reads, with
// `--express` behind the body parser of Express; with `--any-method` it takes every method for POST. With `--asks` it asks
// its client for roots before it lists its tools, and takes batches on standard input.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { call, tools } from "./ranged.mjs";

const options = process.argv.slice(3);

function recorder() {
  const server = new Server({ name: "recorder", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    if (options.includes("--asks")) await server.listRoots();
    return { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, call);
  return server;
}

// Standard input and output with the batches of revision 2025-03-26, which the SDK takes on HTTP alone.
class BatchTransport {
  async start() {
    createInterface({ input: process.stdin }).on("line", (line) => {
      for (const message of [JSON.parse(line)].flat()) this.onmessage?.(message);
    });
  }
  async send(message) {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }
  async close() {}
}

async function handle(request, response, body) {
  if (options.includes("--any-method")) request.method = "POST";
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await recorder().connect(transport);
  await transport.handleRequest(request, response, body);
}

const tell = (server) => server.listen(0, "127.0.0.1", () => console.log(server.address().port));
if (options.includes("--express")) {
  const { default: express } = await import("express");
  const app = express();
  app.use(express.json({ type: "*/*" }));
  app.all("/mcp", (request, response) => handle(request, response, request.body));
  tell(createServer(app));
} else if (options.includes("--http")) {
  tell(
    createServer((request, response) => {
      const { pathname } = new URL(request.url, "http://localhost");
      if (pathname !== "/mcp") return response.writeHead(404).end();
      request.url = pathname;
      handle(request, response);
    }),
  );
} else {
  await recorder().connect(options.includes("--asks") ? new BatchTransport() : new StdioServerTransport());
}
