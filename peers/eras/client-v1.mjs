// The TypeScript SDK v1 as a client that takes the steps of `steps.mjs`: `client-v1.mjs legacy VISITS`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { ANSWERS, HEADERS, run, signal, text } from "./steps.mjs";

async function connect([command, ...args]) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = new Client({ name: "typescript-v1", version: "1" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ANSWERS.elicitation);
  client.setRequestHandler(CreateMessageRequestSchema, () => ANSWERS.sampling);
  client.setRequestHandler(ListRootsRequestSchema, () => ANSWERS.roots);
  const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers: HEADERS } })
    : new StdioClientTransport({ command, args, stderr: "ignore", env: process.env });
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, input = {}, { meta, ...options } = {}) =>
      text(await client.callTool({ name, arguments: input }, undefined, options)),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, input) => (await client.getPrompt({ name, arguments: input })).messages[0].content.text,
    async changes() {
      const { promise, resolve } = signal();
      client.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
      return [promise];
    },
    async logs() {
      const { promise, resolve } = signal();
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(params.data));
      await client.setLoggingLevel("info");
      return [promise];
    },
    close: () => client.close(),
  };
}

await run(connect, JSON.parse(process.argv[3]));
