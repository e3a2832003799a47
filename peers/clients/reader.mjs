// The TypeScript SDK as a client that reads results without checking them: `reader.mjs MODE CALLS TARGET…`.
// MODE is `v1`, or `legacy` or `modern` for v2. CALLS is JSON, names of tools or whole requests; TARGET is the URL of a server
// or the command that starts it. Prints what came of each call: its structured content, or why there is none.
import { connect } from "./connect.mjs";

const [mode, calls, ...target] = process.argv.slice(2);
// Whatever the result is, it is taken.
const anything = mode === "v1" ? (await import("zod")).z.any() : undefined;
const client = await connect(mode, target);
const isHttp = target[0].startsWith("http:");
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
  read.push(isHttp ? await answer : await Promise.race([answer, request("honest").then(() => ({ failed: "no answer" }))]));
}
console.log(JSON.stringify(read));
await client.close();
process.exit(0);
