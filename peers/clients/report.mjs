// Visits the commands (or URLs) after `--`, with `---` between several of them: lists the tools of each server, makes the calls
// of the first argument (JSON: [name, arguments] pairs), and prints one JSON object a line.
import { connect } from "./connect.mjs";

const attempt = (action) => action().catch((error) => ({ failed: String(error.message ?? error).slice(0, 300) }));

export async function report(mode) {
  const [calls, dashes, ...words] = process.argv.slice(2);
  if (dashes !== "--") throw new Error("usage: CLIENT CALLS -- COMMAND ARGS… [--- COMMAND ARGS…]…");
  for (const target of words.join("\0").split("\0---\0")) {
    const client = await connect(mode, target.split("\0"), process.env);
    const report = { tools: await attempt(async () => (await client.listTools()).tools), calls: [] };
    for (const [name, parameters] of JSON.parse(calls)) {
      report.calls.push(await attempt(() => client.callTool({ name, arguments: parameters })));
    }
    await client.close();
    console.log(JSON.stringify(report));
  }
}
