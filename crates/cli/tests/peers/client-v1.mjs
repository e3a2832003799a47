// The TypeScript SDK v1 as a client; see `report.mjs` for what it takes and prints.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { visit } from "./report.mjs";

await visit(async (command, args) => {
  const client = new Client({ name: "peers", version: "1" });
  const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args, stderr: "inherit", env: process.env });
  await client.connect(transport);
  return client;
});
