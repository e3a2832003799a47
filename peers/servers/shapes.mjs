// The TypeScript SDK v2 as a server on standard input and output: a tool for each shape of result.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const text = { type: "string" };
const number = { type: "number" };
const integer = { type: "integer" };
const day = object({ day: text, high: number });

serveStdio(() => {
  const server = new McpServer({ name: "typescript", version: "1" });
  const tool = (name, input, output, value) =>
    server.registerTool(name, { inputSchema: fromJsonSchema(object(input)), outputSchema: fromJsonSchema(output) }, async (given) => ({
      content: [],
      structuredContent: value(given),
    }));
  tool("today", {}, day, () => ({ day: "monday", high: 20.5 }));
  tool("forecast", {}, { type: "array", items: { $ref: "#/$defs/Day" }, $defs: { Day: day } }, () => [
    { day: "monday", high: 20.5 },
    { day: "tuesday", high: 18.5 },
  ]);
  tool("count", {}, integer, () => 42);
  tool("find_person", { id: integer }, { anyOf: [object({ id: integer, name: text }), { type: "null" }] }, ({ id }) =>
    id === 1 ? { id, name: "Ada" } : null,
  );
  tool("shape", { id: integer }, { anyOf: [object({ radius: number }), object({ width: number, height: number })] }, ({ id }) =>
    id === 1 ? { radius: 2.5 } : { width: 2.5, height: 3.5 },
  );
  tool("setting", { name: text }, { type: ["integer", "string"] }, ({ name }) => (name === "level" ? 3 : "dark"));
  return server;
});
