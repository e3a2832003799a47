// The TypeScript SDK v1 as a server with one tool that takes many kinds of arguments, checks them with zod, and answers
// with what it got.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "takes", version: "1" });
const inputSchema = {
  limit: z.number().int().optional(),
  recursive: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  edits: z.array(z.object({ path: z.string(), line: z.number().int() })).optional(),
  filter: z.object({ owner: z.string(), open: z.boolean() }).optional(),
  unit: z.enum(["celsius", "fahrenheit"]).optional(),
  note: z.string().optional(),
};
server.registerTool("take", { description: "answers with its arguments", inputSchema }, (given) => ({
  content: [{ type: "text", text: JSON.stringify(given) }],
}));
await server.connect(new StdioServerTransport());
