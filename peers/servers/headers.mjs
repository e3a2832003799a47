// The TypeScript SDK v2 as a server with a tool whose arguments are also in headers, which the SDK compares: with
// `--http` on a free port, which it prints.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { serve } from "./serve.mjs";

const input = {
  type: "object",
  properties: {
    region: { type: "string", enum: ["eu", "us"], "x-mcp-header": "Region" },
    limit: { type: "integer", "x-mcp-header": "Limit" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
    place: {
      type: "object",
      properties: { floor: { type: "integer", "x-mcp-header": "Floor" } },
      additionalProperties: false,
    },
  },
};

function typed() {
  const server = new McpServer({ name: "headers", version: "1" });
  server.registerTool("route", { inputSchema: fromJsonSchema(input) }, async (given) => ({
    content: [{ type: "text", text: JSON.stringify(given) }],
  }));
  return server;
}

serve(typed);
