// Runs one host with one server and a scripted model: `run.mjs JOB`, where JOB is JSON, prints what was seen as JSON.
//
// `host`, `packages` (a folder `node_modules`), `home` (an empty folder), `server` (its words; or `servers`, of which only the tools are seen), `guard` (the words before them, if
// there is one between), `wrap` and `unwrap` (words that change the configuration of the host before and after its run; without
// `guard`), `calls` (pairs of a tool and arguments; without them each tool is called once), `seconds`.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { differences } from "./differences.mjs";
import { HOSTS } from "./hosts.mjs";
import { startModel } from "./model.mjs";

const cwd = path.join(JSON.parse(process.argv[2]).home, "work");
const job = JSON.parse(process.argv[2].replaceAll("SCRATCH", cwd));
/** Text without what is another at each run. */
const steady = (text) =>
  text.replaceAll(cwd, "SCRATCH").replace(new RegExp(`${job.home}[^\\s\\]]*`, "g"), "[…]").replace(/\d+:\d\d:\d\d [AP]M/g, "[…]");
const host = HOSTS[job.host];

/** A proxy that refuses, and keeps what was asked of it. */
async function startProxy() {
  const asked = new Set();
  const server = http.createServer((request, response) => {
    asked.add(new URL(request.url, "http://unknown").host);
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket) => {
    asked.add(request.url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, asked, close: () => server.closeAllConnections() || server.close() };
}

const plain = (name) => name.replace(/[^A-Za-z0-9]/g, "_");
/** Whether a host offers the tool that the server calls `name` as `tool`. */
const isNamed = (tool, name) => [plain(name), `mcp_s_${plain(name)}`, `mcp__s__${plain(name)}`].includes(plain(tool.name));

/** The calls of the job, of the tools that are offered. */
function plan(tools) {
  const own = tools.filter(host.isOfServer);
  if (!job.calls) return own.map((tool) => ({ tool, arguments: {} }));
  return job.calls.flatMap(([name, args]) => own.filter((tool) => isNamed(tool, name)).map((tool) => ({ tool, arguments: args })));
}

const model = await startModel(plan);
const proxy = await startProxy();
const refused = `http://127.0.0.1:${proxy.port}`;
const tap = path.join(job.home, "tap");
const tapped = (words) => [process.execPath, path.join(import.meta.dirname, "tap.mjs"), tap, ...words];
const started = ([command, ...args]) => ({ command, args });
const servers = job.servers
  ? Object.fromEntries(job.servers.map((words, index) => [`s${index}`, started(words)]))
  : { s: started([...(job.guard ?? []), ...tapped(job.server)]) };
const { words, env, file } = host.start({ packages: job.packages, servers, home: job.home, port: model.port, isOwn: Boolean(job.wrap) });
fs.mkdirSync(cwd, { recursive: true });
/** What the configuration of the host is after `words` were run, as its user would run them. */
function configured(words) {
  if (words) execFileSync(words[0], words.slice(1), { cwd, env: { PATH: process.env.PATH, HOME: job.home, ...env } });
  return fs.readFileSync(file, "utf8");
}
const configurations = job.wrap ? [configured(), configured(job.wrap)] : [];
const version = JSON.parse(fs.readFileSync(path.join(job.packages, host.package, "package.json"))).version;
const child = spawn(words[0], words.slice(1), {
  cwd, stdio: ["ignore", "pipe", "pipe"], detached: true,
  env: {
    PATH: process.env.PATH, HOME: job.home, TMPDIR: job.home, LANG: "C.UTF-8",
    HTTP_PROXY: refused, HTTPS_PROXY: refused, http_proxy: refused, https_proxy: refused, ALL_PROXY: refused,
    NO_PROXY: "127.0.0.1,localhost", no_proxy: "127.0.0.1,localhost", ...env,
  },
});
let said = "";
for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => { said = (said + data).slice(-20000); });
// The group, so that servers end too.
const end = () => { try { process.kill(-child.pid, "SIGKILL"); } catch { /* It has ended. */ } };
let timedOut = false;
const timer = setTimeout(() => { timedOut = true; end(); }, (job.seconds ?? 60) * 1000);
const code = await new Promise((resolve) => { child.on("close", (code) => resolve(code)); child.on("error", (error) => { said += error.message; resolve(null); }); });
clearTimeout(timer);
// What a server or a guard writes at its end is seen by the next run.
const isThere = () => { try { return process.kill(-child.pid, 0); } catch { return false; } };
for (let tries = 0; isThere() && tries < 100; tries++) await new Promise((resolve) => { setTimeout(resolve, 50); });
end();
model.close();
proxy.close();
if (job.unwrap) configurations.push(configured(job.unwrap));

/** What went over the tap: what the client said of itself, the tools that the server listed. */
function seen() {
  if (!fs.existsSync(tap)) return {};
  const lines = fs.readFileSync(tap, "utf8").trim().split("\n").map((line) => [line[0], JSON.parse(line.slice(1))]);
  const of = (mark) => lines.filter((line) => line[0] === mark).map(([, message]) => message);
  const hello = of("<").find(({ method }) => method === "initialize" || method === "server/discover");
  const listings = of(">").map(({ result }) => result?.tools).filter(Boolean);
  return { hello: hello?.params, listed: listings.at(-1) };
}

const { requests, tools, calls, results } = model.seen;
const { hello, listed = [] } = seen();
// Descriptions tell tools apart whose names a host changes.
const isOne = (tool, { name, description }) => (description ? tool.description === description : isNamed(tool, name));
const offered = tools.filter(host.isOfServer).map((tool) => ({ ...tool, of: listed.find((one) => isOne(tool, one))?.name }));
if (job.record) fs.writeFileSync(job.record, JSON.stringify(requests));
const report = JSON.stringify({
  configurations, version, code, timedOut, said: said.trim(), requests: requests.length, proxied: [...proxy.asked], hello,
  listed: listed.map(({ name }) => name), tools: offered,
  differences: differences(listed, offered),
  calls: calls.map(({ tool, arguments: args }, index) => {
    const { of } = offered.find(({ name }) => name === tool.name) ?? {};
    const { isError, text } = results[index] ? host.read(results[index], index, said) : { isError: true, text: "no answer" };
    return { of, arguments: JSON.parse(steady(JSON.stringify(args))), isError, text: steady(text) };
  }),
});
process.stdout.write(`${report}\n`, () => process.exit(0));
