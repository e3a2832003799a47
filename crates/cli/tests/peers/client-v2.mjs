// The TypeScript SDK v2 as a client of revision 2026-07-28: connects to the command (or URL) after `--`, lists the
// tools, makes the calls of the first argument (JSON: [name, arguments] pairs), and prints one JSON object.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [calls, dashes, command, ...args] = process.argv.slice(2);
if (dashes !== "--") throw new Error("usage: client-v2.mjs CALLS -- COMMAND ARGS…");
const client = new Client({ name: "peers", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const transport = command.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "inherit", env: process.env });
await client.connect(transport);

const failed = (error) => ({ failed: String(error.message ?? error).slice(0, 300) });
const report = { tools: null, calls: [] };
try {
  report.tools = (await client.listTools()).tools;
} catch (error) {
  report.tools = failed(error);
}
for (const [name, parameters] of JSON.parse(calls)) {
  try {
    report.calls.push(await client.callTool({ name, arguments: parameters }));
  } catch (error) {
    report.calls.push(failed(error));
  }
}
await client.close();
console.log(JSON.stringify(report));
