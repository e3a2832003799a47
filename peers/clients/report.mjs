// Connects to the command (or URL) after `--`, lists the tools of the server, makes the calls of the first argument (JSON:
// [name, arguments] pairs), and prints one JSON object.
import { connect } from "./connect.mjs";

const attempt = (action) => action().catch((error) => ({ failed: String(error.message ?? error).slice(0, 300) }));

export async function report(mode) {
  const [calls, dashes, ...target] = process.argv.slice(2);
  if (dashes !== "--") throw new Error("usage: CLIENT CALLS -- COMMAND ARGS…");
  const client = await connect(mode, target, process.env);
  const report = { tools: await attempt(async () => (await client.listTools()).tools), calls: [] };
  for (const [name, parameters] of JSON.parse(calls)) {
    report.calls.push(await attempt(() => client.callTool({ name, arguments: parameters })));
  }
  await client.close();
  console.log(JSON.stringify(report));
}
