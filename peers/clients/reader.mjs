// The TypeScript SDK as a client that reads results without checking them: `reader.mjs MODE CALLS TARGET…`.
// MODE is `v1`, or `legacy` or `modern` for v2. CALLS is JSON, names of tools or whole requests; TARGET is the URL of a server
// or the command that starts it. Prints what came of each call: its structured content, or why there is none.
import { connect } from "./connect.mjs";

const [mode, calls, ...target] = process.argv.slice(2);
// Whatever the result is, it is taken, however long it takes.
const anything = mode === "v1" ? [(await import("zod")).z.any()] : [];
const options = { timeout: 2 ** 31 - 1 };
const isHttp = target[0].startsWith("http:");
// Called when the response to the last request has come to its end.
let tell = () => {};
const fetchAndTell = async (url, init) => {
  const isOver = init.method === "POST" ? tell : () => {};
  try {
    const response = await fetch(url, init);
    response.clone().arrayBuffer().then(isOver, isOver);
    return response;
  } catch (error) {
    isOver();
    throw error;
  }
};
const client = await connect(mode, target, undefined, fetchAndTell);
const request = (call) => {
  const request = typeof call === "string" ? { method: "tools/call", params: { name: call, arguments: {} } } : call;
  return client.request(request, ...anything, options).then(
    (result) => ({ value: result.structuredContent, error: result.isError }),
    (error) => ({ failed: String(error.message ?? error).slice(0, 300) }),
  );
};
const read = [];
for (const call of JSON.parse(calls)) {
  const over = isHttp ? new Promise((resolve) => (tell = resolve)) : undefined;
  const answer = request(call);
  // A process answers in turn, and nothing follows the end of a response: when the next call is answered, this one has no answer.
  await Promise.race([over, answer]);
  await request("honest");
  read.push(await Promise.race([answer, { failed: "no answer" }]));
}
console.log(JSON.stringify(read));
await client.close();
process.exit(0);
