// What every client does with every server. Prints one JSON line for each step: {"visit", "step"} and, where it failed, "error".
// `visits` is [[name, [URL] or [command, …arguments], lines], …]; `connect` gives what the steps use. Without `lines` it
// takes the steps below; each line is a step otherwise: see `play`.

const LIMIT = 60_000;
const TOOLS = ["add", "ask_name", "ask_model", "ask_roots", "count_up", "release", "wait", "state", "log", "add_tool"];

export const ANSWERS = {
  elicitation: { action: "accept", content: { name: "Ada" } },
  sampling: { role: "assistant", content: { type: "text", text: "42" }, model: "none" },
  roots: { roots: [{ uri: "file:///home/ada" }] },
};

// TOKEN is sent as a bearer token.
export const HEADERS = process.env.TOKEN ? { authorization: `Bearer ${process.env.TOKEN}` } : {};

const steps = {
  async list({ tools }) {
    const names = await tools();
    for (const name of TOOLS) same(names.includes(name), true);
  },
  answer: async ({ call }) => same(await call("add", { a: 2, b: 3 }), "5"),
  elicit: async ({ call }) => same(await call("ask_name"), "Hello, Ada"),
  sample: async ({ call }) => same(await call("ask_model"), "The model said: 42"),
  async progress({ call }) {
    // The SDKs drop progress that arrives together with the answer: the answer comes when it was seen.
    const token = fresh();
    const seen = [];
    const onprogress = ({ progress }) => {
      if (seen.push(progress) === 3) call("release", { token }).catch(() => {});
    };
    same(await call("count_up", { token }, { onprogress }), "done");
    same(seen.join(), "1,2,3");
  },
  async cancel({ call }) {
    const token = fresh();
    const controller = new AbortController();
    const waiting = call("wait", { token }, { signal: controller.signal }).then(
      () => "an answer",
      () => "no answer",
    );
    const become = async (state) => {
      while ((await call("state", { token })) !== state) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await become("running");
    controller.abort("changed my mind");
    same(await waiting, "no answer");
    await become("cancelled");
  },
  read: async ({ read }) => same(await read("test://greeting"), "Hello from a resource"),
  prompt: async ({ prompt }) => same(await prompt("greet", { name: "Bo" }), "Greet Bo"),
  async change({ call, tools, changes }) {
    const name = fresh();
    const [changed] = await changes();
    await call("add_tool", { name });
    await changed;
    same((await tools()).includes(name), true);
  },
  roots: async ({ call }) => same(await call("ask_roots"), "file:///home/ada"),
  async log({ call, logs }) {
    const [logged] = await logs();
    await call("log", {}, { meta: { "io.modelcontextprotocol/logLevel": "info" } });
    same(await logged, "a line of the log");
  },
};

// One line: ["call" or "fails", tool, arguments, part of the text], ["read", URI, part], ["prompt", name, arguments, part], or
// ["during", tool, arguments, message of its progress, [other tool, arguments], part], where the other call ends the first.
async function play({ call, read, prompt }, [kind, name, input, ...rest]) {
  const has = (found, part) => same(found.includes(part) ? part : found, part);
  if (kind === "read") return has(await read(name), input);
  if (kind === "prompt") return has(await prompt(name, input), rest[0]);
  if (kind === "call") return has(await call(name, input), rest[0]);
  if (kind === "fails") return has(await call(name, input).then(() => "no failure", (error) => error.message), rest[0]);
  const [message, other, part] = rest;
  const progress = signal();
  const waiting = call(name, input, { onprogress: (report) => progress.resolve(report.message) });
  same(await Promise.race([progress.promise, waiting]), message);
  await call(...other);
  has(await waiting, part);
}

let count = 0;

// A name that no other step and no other client uses.
const fresh = () => `${process.pid}_${++count}`;

function same(found, expected) {
  if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}

// The text of a result, or its failure.
export function text(result) {
  const text = result.content[0].text;
  if (result.isError) throw new Error(text);
  return text;
}

// A promise, and the function that settles it.
export function signal() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

async function within(limit, work) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("timed out")), limit)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function run(connect, visits) {
  for (const [visit, target, lines] of visits) {
    const tell = (step, error) => {
      const found = error && String(error?.message ?? error).slice(0, 500);
      console.log(JSON.stringify({ visit, step, error: found }));
    };
    let peer;
    try {
      peer = await within(3 * LIMIT, connect(target));
    } catch (error) {
      tell("connect", error);
      continue;
    }
    const taken = lines?.map((line) => [line.slice(0, 2).join(" "), (peer) => play(peer, line)]) ?? Object.entries(steps);
    for (const [step, take] of taken) await within(LIMIT, take(peer)).then(() => tell(step), (error) => tell(step, error));
    await within(LIMIT, peer.close()).catch(() => {});
  }
  process.exit();
}
