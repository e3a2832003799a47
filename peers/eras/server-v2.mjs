// The TypeScript SDK v2 as a server with the tools that `steps.mjs` uses: `server-v2.mjs modern|legacy|dual`.
// On standard input and output, or with `--http` on a free port, which it prints.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  McpServer, acceptedContent, createMcpHandler, fromJsonSchema, inputRequired, inputResponse, isLegacyRequest,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { FORM, SAMPLING, states } from "./surface.mjs";

const era = process.argv[2];
// On HTTP each modern request has a server of its own: what was added is kept here.
const added = new Set();
let handler;

function eras() {
  const server = new McpServer({ name: "typescript-v2", version: "1" }, { capabilities: { logging: {} } });
  const text = (text) => ({ content: [{ type: "text", text }] });
  const tool = (name, properties, run) => {
    const inputSchema = fromJsonSchema({ type: "object", properties, required: Object.keys(properties) });
    server.registerTool(name, { description: name, inputSchema }, async (input, ctx) => run(input, ctx));
  };
  const string = { type: "string" };
  tool("add", { a: { type: "number" }, b: { type: "number" } }, ({ a, b }) => text(`${a + b}`));
  // The SDK sends these as requests where the client is a legacy one.
  tool("ask_name", {}, (_, { mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "name");
    return answer ? text(`Hello, ${answer.name}`) : inputRequired({ inputRequests: { name: inputRequired.elicit(FORM) } });
  });
  tool("ask_model", {}, (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "model");
    if (answer.kind !== "sampling") {
      return inputRequired({ inputRequests: { model: inputRequired.createMessage(SAMPLING) }, requestState: "asked \u2713" });
    }
    return text(mcpReq.requestState() === "asked \u2713" ? `The model said: ${answer.result.content.text}` : "a changed state");
  });
  tool("ask_roots", {}, (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "roots");
    if (answer.kind !== "roots") return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    return text(answer.roots.map((root) => root.uri).join(" "));
  });
  tool("count_up", { token: string }, async ({ token }, { mcpReq }) => {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: mcpReq._meta.progressToken, progress, total: 3 };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return text(await states.released(token));
  });
  tool("release", { token: string }, ({ token }) => text(states.release(token)));
  tool("wait", { token: string }, async ({ token }, { mcpReq }) => text(await states.wait(token, mcpReq.signal)));
  tool("state", { token: string }, ({ token }) => text(states.get(token)));
  tool("log", {}, async (_, { mcpReq }) => {
    await mcpReq.log("warning", "a line of the log");
    return text("done");
  });
  const add = (name) => tool(name, {}, () => text("added"));
  tool("add_tool", { name: string }, ({ name }) => {
    added.add(name);
    add(name);
    handler?.notify.toolsChanged();
    return text("done");
  });
  for (const name of added) add(name);
  server.registerResource("greeting", "test://greeting", {}, () => ({
    contents: [{ uri: "test://greeting", text: "Hello from a resource" }],
  }));
  const argsSchema = fromJsonSchema({ type: "object", properties: { name: string }, required: ["name"] });
  server.registerPrompt("greet", { argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  return server;
}

const sessions = new Map();

async function handleLegacy(request, response, body) {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await eras().connect(transport);
  }
  await transport.handleRequest(request, response, body);
}

// As the documentation of `isLegacyRequest` shows: sessions for legacy clients beside a handler for modern ones.
async function handleBoth(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : undefined;
  const isLegacy = await isLegacyRequest(await toWebRequest(request, body), body);
  await (isLegacy ? handleLegacy : toNodeHandler(handler))(request, response, body);
}

if (process.argv.includes("--http")) {
  if (era !== "legacy") handler = createMcpHandler(eras, { legacy: "reject" });
  const handle = { modern: () => toNodeHandler(handler), legacy: () => handleLegacy, dual: () => handleBoth }[era]();
  const server = createServer(handle);
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else if (era === "legacy") {
  await eras().connect(new StdioServerTransport());
} else {
  serveStdio(eras, { legacy: era === "modern" ? "reject" : "serve" });
}
