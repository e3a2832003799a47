// The TypeScript SDK v1 as a server with the tools that `steps.mjs` uses: `server-v1.mjs legacy`.
// On standard input and output, or with `--http` on a free port, which it prints.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, ListRootsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { FORM, SAMPLING, states } from "./surface.mjs";

function eras() {
  const server = new McpServer({ name: "typescript-v1", version: "1" }, { capabilities: { logging: {} } });
  const tool = (name, inputSchema, run) =>
    server.registerTool(name, { description: name, inputSchema }, async (input, extra) => ({
      content: [{ type: "text", text: await run(input, extra) }],
    }));
  tool("add", { a: z.number(), b: z.number() }, ({ a, b }) => `${a + b}`);
  // On the stream that the client opens with GET, as most servers of this SDK ask.
  tool("ask_name", {}, async () => {
    const { content } = await server.server.elicitInput(FORM);
    return `Hello, ${content?.name}`;
  });
  // On the stream of the call.
  tool("ask_model", {}, async (_, extra) => {
    const { content } = await extra.sendRequest({ method: "sampling/createMessage", params: SAMPLING }, CreateMessageResultSchema);
    return `The model said: ${content.text}`;
  });
  tool("ask_roots", {}, async (_, extra) => {
    const { roots } = await extra.sendRequest({ method: "roots/list" }, ListRootsResultSchema);
    return roots.map((root) => root.uri).join(" ");
  });
  tool("count_up", { token: z.string() }, async ({ token }, { _meta, sendNotification }) => {
    for (const progress of [1, 2, 3]) {
      await sendNotification({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress, total: 3 } });
    }
    return states.released(token);
  });
  tool("release", { token: z.string() }, ({ token }) => states.release(token));
  tool("wait", { token: z.string() }, ({ token }, { signal }) => states.wait(token, signal));
  tool("state", { token: z.string() }, ({ token }) => states.get(token));
  tool("log", {}, async () => {
    await server.sendLoggingMessage({ level: "warning", data: "a line of the log" });
    return "done";
  });
  tool("add_tool", { name: z.string() }, ({ name }) => {
    tool(name, {}, () => "added");
    return "done";
  });
  server.registerResource("greeting", "test://greeting", {}, () => ({
    contents: [{ uri: "test://greeting", text: "Hello from a resource" }],
  }));
  server.registerPrompt("greet", { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  return server;
}

const sessions = new Map();

async function handle(request, response) {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await eras().connect(transport);
  }
  await transport.handleRequest(request, response);
}

if (process.argv.includes("--http")) {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  await eras().connect(new StdioServerTransport());
}
