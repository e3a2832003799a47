// The TypeScript SDK v2 as a client of revision 2026-07-28; see `report.mjs` for what it takes and prints.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { visit } from "./report.mjs";

await visit(async (command, args) => {
  const client = new Client({ name: "peers", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args, stderr: "inherit", env: process.env });
  await client.connect(transport);
  return client;
});
