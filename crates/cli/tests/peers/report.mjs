// Visits servers with the client that `connect` makes of a command (or URL) and its arguments: `CALLS -- COMMAND ARGS…`, with
// `---` between several of them. Lists the tools of each, makes the calls (JSON: [name, arguments] pairs), and prints one
// JSON object a line.
const failed = (error) => ({ failed: String(error.message ?? error).slice(0, 300) });

export async function visit(connect) {
  const [calls, dashes, ...words] = process.argv.slice(2);
  if (dashes !== "--") throw new Error("usage: CALLS -- COMMAND ARGS… [--- COMMAND ARGS…]…");
  for (const target of words.join("\0").split("\0---\0")) {
    const [command, ...args] = target.split("\0");
    await report(await connect(command, args), JSON.parse(calls));
  }
}

async function report(client, calls) {
  const report = { tools: null, calls: [] };
  try {
    report.tools = (await client.listTools()).tools;
  } catch (error) {
    report.tools = failed(error);
  }
  for (const [name, parameters] of calls) {
    try {
      report.calls.push(await client.callTool({ name, arguments: parameters }));
    } catch (error) {
      report.calls.push(failed(error));
    }
  }
  await client.close();
  console.log(JSON.stringify(report));
}
