// The TypeScript SDK as a client: `typescript.mjs MODE VISITS`. MODE is `v1`, or `legacy` or `modern` for v2. VISITS is
// JSON: for each server what to start or its URL, and the calls to make, as [[command, …] or [url], [[name, arguments], …]].
// Prints what it read, one JSON object for each server.
const [mode, visits] = process.argv.slice(2);
const sdk = "@modelcontextprotocol/sdk/client";
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(
  mode === "v1"
    ? [import(`${sdk}/index.js`), import(`${sdk}/stdio.js`), import(`${sdk}/streamableHttp.js`)]
    : [import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio"), import("@modelcontextprotocol/client")],
);
const options = mode === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const attempt = (action) => action().catch((error) => ({ failed: String(error.message ?? error) }));

async function visit([command, ...args], calls) {
  const client = new Client({ name: "clients", version: "1" }, options);
  await client.connect(
    command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
  );
  const call = async (name, parameters) => {
    const result = await client.callTool({ name, arguments: parameters });
    return result.isError ? { error: result.content[0].text } : { value: result.structuredContent };
  };
  const tools = await attempt(async () => (await client.listTools()).tools.map((tool) => tool.name));
  const report = { tools, calls: [] };
  for (const [name, parameters] of calls) {
    report.calls.push(await attempt(() => call(name, parameters)));
  }
  await client.close();
  return report;
}

for (const [target, calls] of JSON.parse(visits)) {
  console.log(JSON.stringify(await visit(target, calls)));
}
