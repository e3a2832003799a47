// A server without an SDK that sends what its author wrote, whatever the client can read: output
// schemas and values that are no objects, and with `--bad` tools that no client can use.
import { createInterface } from "node:readline";

const object = { type: "object", properties: {} };
const person = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } }, required: ["id", "name"] };
const tools = [
  { name: "forecast", inputSchema: object, outputSchema: { type: "array", items: { $ref: "#/$defs/Day" }, $defs: { Day: { type: "object", properties: { day: { type: "string" } }, required: ["day"] } } } },
  { name: "count", inputSchema: object, outputSchema: { type: "integer" } },
  { name: "find_person", inputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }, outputSchema: { anyOf: [person, { type: "null" }] } },
  { name: "shape", inputSchema: object, outputSchema: { anyOf: [{ type: "object", properties: { radius: { type: "number" } }, required: ["radius"] }, { type: "object", properties: { w: { type: "number" } }, required: ["w"] }] } },
  { name: "ranged", inputSchema: { type: "object", properties: { n: { type: "integer", maximum: 10 }, code: { type: "string", pattern: "^[a-z]{3}$" } }, required: ["n"] }, outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  { name: "lying", inputSchema: object, outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false } },
  { name: "undeclared", inputSchema: object },
];
if (process.argv.includes("--bad")) {
  tools.splice(2, 0, { name: "no_input", inputSchema: null }, { name: "remote", inputSchema: object, outputSchema: { $ref: "http://127.0.0.1:9/x.json" } });
}

const values = {
  forecast: () => [{ day: "monday" }, { day: "tuesday" }],
  count: () => 42,
  find_person: ({ id }) => (id === 1 ? { id: 1, name: "Ada" } : null),
  shape: () => ({ radius: 2 }),
  ranged: (value) => value,
  lying: () => ({ n: "not a number", extra: true }),
  undeclared: () => [1, 2, 3],
  remote: () => ({ any: "thing" }),
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bare", version: "1" } };
    case "tools/list":
      return { tools };
    case "tools/call": {
      const value = values[params.name]?.(params.arguments ?? {});
      if (value === undefined) return undefined;
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    }
    case "ping":
      return {};
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) continue;
  const result = answer(message);
  if (result === undefined) send({ id: message.id, error: { code: -32602, message: "not found" } });
  else send({ id: message.id, result });
}
