// A beta of the TypeScript SDK v2 as a client: `client.mjs PACKAGE VISITS`; see `tests/clients/typescript.mjs` for VISITS
// and for what it prints; `older` names the read-only tools whose output schemas name a dialect. An argument `FROM name` stands for the member `name` of an earlier result.
const [name, visits] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = await import(name);
const { StdioClientTransport } = await import(`${name}/stdio`);
const attempt = (action) => action().catch((error) => ({ failed: String(error.message ?? error) }));

async function visit([command, ...args], calls) {
  const client = new Client({ name: "dialects", version: "1" });
  await client.connect(
    command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
  );
  const seen = {};
  const call = async (tool, parameters) => {
    const filled = Object.entries(parameters).map(([key, value]) => [key, String(value).startsWith("FROM ") ? seen[value.slice(5)] ?? "" : value]);
    const result = await client.callTool({ name: tool, arguments: Object.fromEntries(filled) });
    Object.assign(seen, result.structuredContent);
    return result.isError ? { error: result.content[0].text } : { value: result.structuredContent };
  };
  const { tools } = await client.listTools();
  const older = tools.filter((tool) => tool.annotations?.readOnlyHint && tool.outputSchema?.$schema);
  const report = { tools: tools.map((tool) => tool.name), older: older.map((tool) => tool.name), calls: [] };
  for (const [tool, parameters] of calls) {
    report.calls.push(await attempt(() => call(tool, parameters)));
  }
  await client.close();
  return report;
}

for (const [target, calls] of JSON.parse(visits)) {
  console.log(JSON.stringify(await visit(target, calls)));
}
