// The TypeScript SDK as a client that reads results without checking them: `reader.mjs MODE CALLS TARGET…`.
// MODE is `v1`, or `legacy` or `modern` for v2. CALLS is JSON, names of tools or whole requests; TARGET is the URL of a server
// or the command that starts it. Prints what came of each call: its structured content, or why there is none.
import { connect } from "./connect.mjs";

const [mode, calls, ...target] = process.argv.slice(2);
// Whatever the result is, it is taken.
const anything = mode === "v1" ? (await import("zod")).z.any() : undefined;
const client = await connect(mode, target);
const read = [];
for (const call of JSON.parse(calls)) {
  try {
    const request = typeof call === "string" ? { method: "tools/call", params: { name: call, arguments: {} } } : call;
    // An ordinary answer is waited for as long as it takes.
    const timeout = 1000 * (call === "honest" ? 8 : Number(process.env.READER_WAIT ?? 8));
    const result = mode === "v1" ? await client.request(request, anything, { timeout }) : await client.request(request, { timeout });
    read.push({ value: result.structuredContent, error: result.isError });
  } catch (error) {
    read.push({ failed: String(error.message ?? error).slice(0, 300) });
  }
}
console.log(JSON.stringify(read));
await client.close();
process.exit(0);
