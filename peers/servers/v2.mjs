// The TypeScript SDK v2 as a server: tools whose results are an array, a number, null and a union.
// On standard input and output, or with `--http` on a free port, which it prints.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { serve } from "./serve.mjs";

function typed() {
  const server = new McpServer({ name: "v2", version: "1" });
  const input = { type: "object", properties: { id: { type: "integer" } } };
  const tool = (name, output, value) =>
    server.registerTool(
      name,
      { inputSchema: fromJsonSchema(input), outputSchema: fromJsonSchema(output) },
      async () => ({ content: [], structuredContent: value }),
    );
  tool("forecast", { type: "array", items: { type: "string" } }, ["sun", "rain"]);
  tool("count", { type: "integer" }, 42);
  tool("find_person", { anyOf: [{ type: "object" }, { type: "null" }] }, null);
  tool("shape", { anyOf: [{ type: "object", properties: { radius: { type: "number" } } }, { type: "object", properties: { w: { type: "number" } } }] }, { radius: 2 });
  return server;
}

serve(typed);
