// The TypeScript SDK v2 as a client of revision 2026-07-28: connects to the command (or URL) after `--`, and
// reports on it with the calls of the first argument.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { report } from "./report.mjs";

const [calls, dashes, command, ...args] = process.argv.slice(2);
if (dashes !== "--") throw new Error("usage: client-v2.mjs CALLS -- COMMAND ARGS…");
const client = new Client({ name: "peers", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const transport = command.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "inherit", env: process.env });
await client.connect(transport);
await report(client, calls);
