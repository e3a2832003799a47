// The TypeScript SDK as a client that lists and calls in rounds: `rounds.mjs MODE VISITS`; see `connect.mjs` for MODE.
// VISITS is JSON: for each server what to start or its URL, and for each round whether to list before it and the tools to
// call, as [[command, …] or [url], [[true, [name, …]], …]]. Prints for each visit one JSON array of rounds, each an array of
// `texts`, `structured` and `isError`, what a model can get of the result, or `thrown`, why there is none.
import { connect } from "./connect.mjs";

const [mode, visits] = process.argv.slice(2);
const thrown = (error) => ({ thrown: String(error?.message ?? error) });

async function call(client, name) {
  const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: {} });
  return { texts: content.map(({ text }) => text), structured: structuredContent, isError };
}

async function visit(target, rounds) {
  let client;
  try {
    client = await connect(mode, target);
  } catch (error) {
    return rounds.map(([, names]) => names.map(() => thrown(error)));
  }
  const seen = [];
  for (const [lists, names] of rounds) {
    const failed = lists && (await client.listTools().then(() => undefined, thrown));
    const round = [];
    for (const name of names) round.push(failed || (await call(client, name).catch(thrown)));
    seen.push(round);
  }
  await client.close();
  return seen;
}

for (const [target, rounds] of JSON.parse(visits)) console.log(JSON.stringify(await visit(target, rounds)));
