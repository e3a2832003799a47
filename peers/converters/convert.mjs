// Runs the schema converters that model APIs and agent frameworks publish for Node over tools, without a network.
//
// Reads lines `{"id": N, "tool": {…}, "structured": …}` and writes, for each line and each converter (or those that the line
// names in `converters`), one line `{"id": N, "converter": NAME, …}` with `schema`, the input schema that the converter makes,
// as JSON Schema (`null`: the tool is sent without parameters), or `error`, why there is none.
//
// The clients of the SDK have nothing to convert: `schema` is then the input schema as it came. `structured` is the
// structured content of the result that the client reads.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const MILLISECONDS = 5000;
const require = createRequire(import.meta.url);

/** The Gemini API's `Schema` that the Vercel provider writes as JSON Schema: `nullable` stands for a union with null.
 * An `enum` of strings on another type is left alone: that is what the API is sent. */
function jsonSchema(schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  const each = (children) => Object.fromEntries(Object.entries(children).map(([name, child]) => [name, jsonSchema(child)]));
  const { nullable, ...made } = schema;
  if (made.properties) made.properties = each(made.properties);
  if (made.items) made.items = Array.isArray(made.items) ? made.items.map(jsonSchema) : jsonSchema(made.items);
  for (const union of ["anyOf", "oneOf", "allOf"]) if (made[union]) made[union] = made[union].map(jsonSchema);
  return nullable === true ? { anyOf: [made, { type: "null" }] } : made;
}

function openai() {
  const { toStrictJsonSchema } = require("openai/lib/transform");
  return ({ tool }) => ({ schema: toStrictJsonSchema(tool.inputSchema) });
}

function anthropic() {
  const { transformJSONSchema } = require("@anthropic-ai/sdk/lib/transform-json-schema");
  return ({ tool }) => ({ schema: transformJSONSchema(tool.inputSchema) });
}

function vercelGoogle() {
  const { createGoogleGenerativeAI } = require("@ai-sdk/google");
  const ai = require("ai");
  const answer = { candidates: [{ content: { role: "model", parts: [{ text: "done" }] }, finishReason: "STOP" }] };
  return async ({ tool }) => {
    let sent;
    const fetch = async (_url, { body }) => {
      sent = JSON.parse(body);
      return Response.json(answer);
    };
    const model = createGoogleGenerativeAI({ apiKey: "none", fetch })("gemini-2.5-flash");
    const given = ai.dynamicTool({
      description: tool.description,
      inputSchema: ai.jsonSchema(tool.inputSchema),
      execute: async () => "done",
    });
    await ai.generateText({ model, prompt: "x", maxRetries: 0, tools: { [tool.name]: given } });
    const declaration = sent.tools[0].functionDeclarations[0];
    return { schema: declaration.parametersJsonSchema ?? jsonSchema(declaration.parameters) ?? null };
  };
}

/** A client of the SDK that lists the tool and, if the tool has an output schema, calls it. */
function client(Client, InMemoryTransport, revision) {
  const answer = ({ tool, structured }, { method, params }) => {
    if (method === "initialize")
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "scripted", version: "1" } };
    if (method === "server/discover")
      return {
        supportedVersions: [revision],
        capabilities: { tools: {} },
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } },
        ttlMs: 0,
        cacheScope: "private",
      };
    if (method === "tools/list") return { tools: [tool], ttlMs: 0, cacheScope: "private" };
    return { content: [{ type: "text", text: "done" }], structuredContent: structured };
  };
  return async (line) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    far.onmessage = (message) => {
      if (message.id === undefined) return;
      const result = { ...(revision && { resultType: "complete" }), ...answer(line, message) };
      far.send({ jsonrpc: "2.0", id: message.id, result });
    };
    await far.start();
    const options = revision && { versionNegotiation: { mode: { pin: revision } } };
    const client = new Client({ name: "converters", version: "1" }, options);
    let step = "connect";
    try {
      await client.connect(near);
      step = "list";
      const { tools } = await client.listTools();
      if (!tools.some(({ name }) => name === line.tool.name)) throw new Error("the client leaves the tool out");
      if (line.tool.outputSchema !== undefined && "structured" in line) {
        step = "call";
        await client.callTool({ name: line.tool.name, arguments: {} });
      }
      return { schema: line.tool.inputSchema };
    } catch (error) {
      return { error: `${step}: ${described(error)}`.slice(0, 200) };
    } finally {
      await client.close();
    }
  };
}

function clientV1() {
  const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
  const { InMemoryTransport } = require("@modelcontextprotocol/sdk/inMemory.js");
  return client(Client, InMemoryTransport);
}

function clientV2(name) {
  const { Client, InMemoryTransport } = require(name);
  return client(Client, InMemoryTransport, "2026-07-28");
}

const CONVERTERS = {
  "openai-npm": openai,
  "anthropic-npm": anthropic,
  "ai-sdk-google": vercelGoogle,
  "ts-sdk-v1": clientV1,
  "ts-sdk-v2": () => clientV2("@modelcontextprotocol/client"),
  "ts-sdk-v2-beta": () => clientV2("client-2.0.0-beta.5"),
};

const described = (error) => `${error?.name}: ${String(error?.message ?? error).replace(/\s+/g, " ")}`.slice(0, 200);

/** Answers questions of the main thread, which ends this one when an answer takes too long. */
function work() {
  const quiet = () => {};
  Object.assign(console, { log: quiet, warn: quiet, error: quiet, info: quiet });
  const converters = Object.fromEntries(Object.entries(CONVERTERS).map(([name, load]) => [name, load()]));
  parentPort.on("message", async ({ name, line }) => {
    let made;
    try {
      made = JSON.stringify(await converters[name](line));
    } catch (error) {
      made = JSON.stringify({ error: described(error) });
    }
    parentPort.postMessage(made);
  });
  parentPort.postMessage("ready");
}

/** A thread with the converters, and the promise of its next message. */
function start() {
  const thread = { worker: new Worker(new URL(import.meta.url)) };
  thread.next = () => new Promise((resolve, reject) => Object.assign(thread, { resolve, reject }));
  thread.worker.on("message", (made) => thread.resolve(made));
  thread.worker.on("error", (error) => {
    thread.ended = true;
    thread.reject(error);
  });
  return thread;
}

/** What one converter makes of one line, in the form that is written; nothing when it takes too long. */
async function run({ worker, next }, name, line) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, MILLISECONDS)));
  const answer = next();
  worker.postMessage({ name, line });
  try {
    const made = await Promise.race([answer, late]);
    return made && JSON.parse(made);
  } finally {
    clearTimeout(timer);
  }
}

async function main() {
  let thread;
  for await (const text of createInterface({ input: process.stdin })) {
    const line = JSON.parse(text);
    for (const name in CONVERTERS) {
      if (line.converters && !line.converters.includes(name)) continue;
      if (!thread) {
        thread = start();
        await thread.next();
      }
      let made;
      try {
        made = (await run(thread, name, line)) ?? { error: "Timeout" };
      } catch (error) {
        made = { error: described(error) };
      }
      if (made.error === "Timeout" || thread.ended) {
        await thread.worker.terminate();
        thread = undefined;
      }
      process.stdout.write(JSON.stringify({ id: line.id, converter: name, ...made }) + "\n");
    }
  }
  await thread?.worker.terminate();
}

if (isMainThread) await main();
else work();
