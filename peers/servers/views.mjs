// The TypeScript SDK v2 as a server whose tool no model API takes as it is: its name has a `/`, its input is closed and
// has a map. It answers with its arguments. On standard input and output, or with `--http` on a free port, which it
// prints; then the SDK compares `Mcp-Name` and the headers of arguments with the body.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { serve } from "./serve.mjs";

const input = {
  type: "object",
  properties: {
    region: { type: "string", description: "A region.", "x-mcp-header": "Region" },
    labels: { type: "object", description: "Labels.", additionalProperties: { type: "string" } },
    size: { type: "integer", description: "A size.", minimum: 1 },
  },
  required: ["region"],
  additionalProperties: false,
};

function typed() {
  const server = new McpServer({ name: "views", version: "1" });
  const config = { description: "Stores a file.", inputSchema: fromJsonSchema(input) };
  server.registerTool("files/store", config, async (given) => ({
    content: [{ type: "text", text: JSON.stringify(given) }],
  }));
  return server;
}

serve(typed);
