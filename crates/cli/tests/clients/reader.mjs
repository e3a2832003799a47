// The TypeScript SDK as a client that reads results without checking them: `reader.mjs MODE CALLS TARGET…`.
// MODE is `v1`, or `legacy` or `modern` for v2. CALLS is JSON, names of tools or whole requests; TARGET is the URL of a server
// or the command that starts it. Prints what came of each call: its structured content, or why there is none.
const [mode, calls, command, ...args] = process.argv.slice(2);
const sdk = "@modelcontextprotocol/sdk/client";
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(
  mode === "v1"
    ? [import(`${sdk}/index.js`), import(`${sdk}/stdio.js`), import(`${sdk}/streamableHttp.js`)]
    : [import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio"), import("@modelcontextprotocol/client")],
);
// Whatever the result is, it is taken.
const anything = mode === "v1" ? (await import("zod")).z.any() : undefined;
const options = mode === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "reader", version: "1" }, options);
await client.connect(
  command.startsWith("http:") ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
);
const is_http = command.startsWith("http:");
const request = (call) => {
  const request = typeof call === "string" ? { method: "tools/call", params: { name: call, arguments: {} } } : call;
  const sent = mode === "v1" ? client.request(request, anything) : client.request(request);
  return sent.then(
    (result) => ({ value: result.structuredContent, error: result.isError }),
    (error) => ({ failed: String(error.message ?? error).slice(0, 300) }),
  );
};
const read = [];
for (const call of JSON.parse(calls)) {
  const answer = request(call);
  // A process answers in turn: when the next call is answered, this one has no answer.
  read.push(is_http ? await answer : await Promise.race([answer, request("honest").then(() => ({ failed: "no answer" }))]));
}
console.log(JSON.stringify(read));
await client.close();
process.exit(0);
