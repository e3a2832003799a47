// Stands between a server and its client on standard input and output: `tap.mjs FILE COMMAND…` adds every line to FILE,
// with `<` before those of the client and `>` before those of the server.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createInterface } from "node:readline";

const [file, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const pass = (mark, from, to) => {
  const lines = createInterface({ input: from });
  lines.on("line", (line) => {
    fs.appendFileSync(file, `${mark}${line}\n`);
    to.write(`${line}\n`);
  });
  lines.on("close", () => to.end());
};
pass("<", process.stdin, child.stdin);
pass(">", child.stdout, process.stdout);
child.stdin.on("error", () => {});
process.stdout.on("error", () => child.kill());
child.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
