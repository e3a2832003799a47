// What hosts make of input schemas on the way to their model API.
//
// Reads lines `{"id": N, "tool": {…}, "converters": […]}` and writes, for each line and each host (or those that the line
// names), one line `{"id": N, "converter": NAME, …}` with `schema`, the input schema that the model is offered (`null`: none),
// or `error`, why the tool is not offered. Many tools go into one run.
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { HOSTS } from "./hosts.mjs";

const AT_ONCE = 256;
/** A host that refuses the list of one server shows the others: lists get smaller until each has one tool. */
const LISTS = [16, 4, 1];
const here = import.meta.dirname;
const installed = path.join(here, "../../target/testkit/hosts");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "toolbond-hosts-"));
let runs = 0;

/** `nullable`, which Gemini CLI writes for its API, as a union with null. */
function jsonSchema(schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(jsonSchema);
  const { nullable, ...made } = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, jsonSchema(one)]));
  return nullable === true ? { anyOf: [made, { type: "null" }] } : made;
}

/** The schemas that the model is offered, by the id of the line; each of `lists` is a server. */
async function offered(host, lists) {
  const home = path.join(scratch, `${runs++}`);
  fs.mkdirSync(home);
  const servers = lists.map((lines, index) => {
    const file = path.join(home, `${index}.json`);
    const tools = lines.map(({ id, tool: { description, inputSchema } }) => ({ name: `t${id}`, description, inputSchema }));
    fs.writeFileSync(file, JSON.stringify({ tools }));
    return [process.execPath, path.join(here, "../servers/listed.mjs"), file];
  });
  const job = { host, packages: path.join(installed, host, "node_modules"), home, servers, calls: [], seconds: 120 };
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(here, "run.mjs"), JSON.stringify(job)], { maxBuffer: 1 << 30 });
  const run = JSON.parse(stdout);
  fs.rmSync(home, { recursive: true });
  if (run.requests === 0) throw new Error(`${host} ${run.version} asked the model nothing; it said: ${run.said}`);
  return new Map(run.tools.map(({ name, schema }) => [Number(/(\d+)$/.exec(name)[1]), jsonSchema(schema) ?? null]));
}

async function convert(host, lines) {
  for (const size of LISTS) {
    const lists = [];
    for (let from = 0; from < lines.length; from += size) lists.push(lines.slice(from, from + size));
    if (lists.length === 0) return;
    const found = await offered(host, lists);
    const again = [];
    for (const list of lists) {
      if (size > 1 && !list.some(({ id }) => found.has(id))) {
        again.push(...list);
        continue;
      }
      for (const { id } of list) {
        const made = found.has(id) ? { schema: found.get(id) } : { error: size === 1 ? "the list is refused" : "the tool is not offered" };
        console.log(JSON.stringify({ id, converter: host, ...made }));
      }
    }
    lines = again;
  }
}

const lines = [];
for await (const line of createInterface({ input: process.stdin })) lines.push(JSON.parse(line));
try {
  await Promise.all(Object.keys(HOSTS).map(async (host) => {
    const own = lines.filter(({ converters }) => converters?.includes(host) ?? true);
    for (let from = 0; from < own.length; from += AT_ONCE) await convert(host, own.slice(from, from + AT_ONCE));
  }));
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}
