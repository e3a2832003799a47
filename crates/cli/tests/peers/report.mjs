// Lists the tools of a server, makes calls (JSON: [name, arguments] pairs), and prints one JSON object.
const failed = (error) => ({ failed: String(error.message ?? error).slice(0, 300) });

export async function report(client, calls) {
  const report = { tools: null, calls: [] };
  try {
    report.tools = (await client.listTools()).tools;
  } catch (error) {
    report.tools = failed(error);
  }
  for (const [name, parameters] of JSON.parse(calls)) {
    try {
      report.calls.push(await client.callTool({ name, arguments: parameters }));
    } catch (error) {
      report.calls.push(failed(error));
    }
  }
  await client.close();
  console.log(JSON.stringify(report));
}
