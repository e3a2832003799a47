// The TypeScript SDK v2 as a client that takes the steps of `steps.mjs`: `client-v2.mjs modern|legacy|dual VISITS`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ANSWERS, HEADERS, run, signal, text } from "./steps.mjs";

const mode = { modern: { pin: "2026-07-28" }, legacy: "legacy", dual: "auto" }[process.argv[2]];

async function connect([command, ...args]) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const versionNegotiation = { mode };
  const client = new Client({ name: "typescript-v2", version: "1" }, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", () => ANSWERS.elicitation);
  client.setRequestHandler("sampling/createMessage", () => ANSWERS.sampling);
  client.setRequestHandler("roots/list", () => ANSWERS.roots);
  const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers: HEADERS } })
    : new StdioClientTransport({ command, args, stderr: "ignore", env: process.env });
  await client.connect(transport);
  const isModern = client.getNegotiatedProtocolVersion() >= "2026-07-28";
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, input = {}, { meta, ...options } = {}) =>
      text(await client.callTool({ name, arguments: input, ...(isModern && meta && { _meta: meta }) }, options)),
    read: async (uri) => (await client.readResource({ uri })).contents[0].text,
    prompt: async (name, input) => (await client.getPrompt({ name, arguments: input })).messages[0].content.text,
    async changes() {
      const { promise, resolve } = signal();
      client.setNotificationHandler("notifications/tools/list_changed", resolve);
      if (isModern) await client.listen({ toolsListChanged: true });
      return [promise];
    },
    async logs() {
      const { promise, resolve } = signal();
      client.setNotificationHandler("notifications/message", ({ params }) => resolve(params.data));
      if (!isModern) await client.setLoggingLevel("info");
      return [promise];
    },
    close: () => client.close(),
  };
}

await run(connect, JSON.parse(process.argv[3]));
