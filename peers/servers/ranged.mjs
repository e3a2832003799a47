// The tool of the recorders: `RECORDER RECORD` writes down what it is called with.
import { appendFileSync } from "node:fs";

const inputSchema = { type: "object", properties: { n: { type: "integer", maximum: 10 } }, required: ["n"] };
const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
export const tools = [{ name: "ranged", inputSchema, outputSchema }];

export async function call({ params }) {
  if (params.name !== "ranged") throw new Error("no such tool");
  appendFileSync(process.argv[2], `${JSON.stringify(params.arguments ?? null)}\n`);
  return { content: [{ type: "text", text: "done" }], structuredContent: { n: 1 } };
}
