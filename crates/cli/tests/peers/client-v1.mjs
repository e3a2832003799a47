// The TypeScript SDK v1 as a client: connects to the command (or URL) after `--`, and reports on it with the
// calls of the first argument.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { report } from "./report.mjs";

const [calls, dashes, command, ...args] = process.argv.slice(2);
if (dashes !== "--") throw new Error("usage: client-v1.mjs CALLS -- COMMAND ARGS…");
const client = new Client({ name: "peers", version: "1" });
const transport = command.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "inherit", env: process.env });
await client.connect(transport);
await report(client, calls);
