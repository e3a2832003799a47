// The TypeScript SDK as a client: `typescript.mjs MODE VISITS`; see `connect.mjs` for MODE. VISITS is JSON: for each server
// what to start or its URL, and the calls to make, as [[command, …] or [url], [[name, arguments], …]]. An argument
// `FROM name` stands for the member `name` of an earlier result. Prints what it read, one JSON object for each server;
// `older` names the read-only tools whose output schemas name a dialect.
import { connect } from "./connect.mjs";

const [mode, visits] = process.argv.slice(2);
const attempt = (action) => action().catch((error) => ({ failed: String(error.message ?? error) }));

async function visit(target, calls) {
  const client = await connect(mode, target);
  const seen = {};
  const fill = ([key, value]) => [key, String(value).startsWith("FROM ") ? seen[value.slice(5)] ?? "" : value];
  const call = async (name, parameters) => {
    const filled = Object.fromEntries(Object.entries(parameters).map(fill));
    const result = await client.callTool({ name, arguments: filled });
    Object.assign(seen, result.structuredContent);
    return result.isError ? { error: result.content[0].text } : { value: result.structuredContent };
  };
  const names = (tools) => tools.map((tool) => tool.name);
  const isOlder = (tool) => tool.annotations?.readOnlyHint && tool.outputSchema?.$schema;
  const listed = await attempt(async () => (await client.listTools()).tools);
  const report = listed.failed ? { tools: listed, calls: [] } : { tools: names(listed), older: names(listed.filter(isOlder)), calls: [] };
  for (const [name, parameters] of calls) {
    report.calls.push(await attempt(() => call(name, parameters)));
  }
  await client.close();
  return report;
}

for (const [target, calls] of JSON.parse(visits)) {
  console.log(JSON.stringify(await visit(target, calls)));
}
