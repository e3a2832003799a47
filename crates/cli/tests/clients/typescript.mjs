// The TypeScript SDK as a client: `typescript.mjs MODE CALLS URL` or `… COMMAND ARGS…`. MODE is `v1`, or `legacy`
// or `modern` for v2; CALLS is JSON, [name, arguments] pairs. Prints what it read as one JSON object.
const [mode, calls, command, ...args] = process.argv.slice(2);
const sdk = "@modelcontextprotocol/sdk/client";
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(
  mode === "v1"
    ? [import(`${sdk}/index.js`), import(`${sdk}/stdio.js`), import(`${sdk}/streamableHttp.js`)]
    : [import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio"), import("@modelcontextprotocol/client")],
);
const options = mode === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "clients", version: "1" }, options);
await client.connect(
  command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
);

const failed = (error) => ({ failed: String(error.message ?? error) });
const attempt = (action) => action().catch(failed);
const call = async (name, parameters) => {
  const result = await client.callTool({ name, arguments: parameters });
  return result.isError ? { error: result.content[0].text } : { value: result.structuredContent };
};
const report = { tools: await attempt(async () => (await client.listTools()).tools.map((tool) => tool.name)), calls: [] };
for (const [name, parameters] of JSON.parse(calls)) {
  report.calls.push(await attempt(() => call(name, parameters)));
}
await client.close();
console.log(JSON.stringify(report));
