// The TypeScript SDK v2 as a server whose tool writes down what it is called with: `recorder-v2.mjs RECORD`.
// On standard input and output, or with `--http` on a free port, which it prints.
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serve } from "./serve.mjs";

const record = process.argv[2];
const inputSchema = { type: "object", properties: { n: { type: "integer", maximum: 10 } }, required: ["n"] };
const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

function recorder() {
  const server = new Server({ name: "recorder", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools: [{ name: "ranged", inputSchema, outputSchema }] }));
  server.setRequestHandler("tools/call", async (request) => {
    if (request.params.name !== "ranged") throw new Error("no such tool");
    appendFileSync(record, `${JSON.stringify(request.params.arguments ?? null)}\n`);
    return { content: [{ type: "text", text: "done" }], structuredContent: { n: 1 } };
  });
  return server;
}

serve(recorder);
