// The TypeScript SDK v2 as a server: tools whose results are an array, a number, null and a union.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const server = new McpServer({ name: "v2", version: "1" });
const tool = (name, output, value) =>
  server.registerTool(
    name,
    { inputSchema: fromJsonSchema({ type: "object", properties: {} }), outputSchema: fromJsonSchema(output) },
    async () => ({ content: [], structuredContent: value }),
  );
tool("forecast", { type: "array", items: { type: "string" } }, ["sun", "rain"]);
tool("count", { type: "integer" }, 42);
tool("find_person", { anyOf: [{ type: "object" }, { type: "null" }] }, null);
tool("shape", { anyOf: [{ type: "object", properties: { radius: { type: "number" } } }, { type: "object", properties: { w: { type: "number" } } }] }, { radius: 2 });
await server.connect(new StdioServerTransport());
