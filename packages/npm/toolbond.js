#!/usr/bin/env node
// Runs the program of the package for this system, with the same standard input and output.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { isatty } = require('node:tty');
const { optionalDependencies: packages, version } = require('./package.json');

/** Like every failure of the command that is no finding. */
function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

function usesMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

/** The program, or the reason why there is none. */
function program() {
  const system = `${process.platform}-${process.arch}`;
  const name = `@toolbond/${system}`;
  try {
    return require.resolve(`${name}/bin/toolbond${process.platform === 'win32' ? '.exe' : ''}`);
  } catch {
    if (name in packages && !usesMusl()) {
      fail(
        `the package ${name} is not installed: npm leaves it out with --omit=optional, and with a ` +
          `package-lock.json from another system; to add it: npm install ${name}@${version}`,
      );
    }
    const systems = Object.keys(packages).map((key) => key.slice('@toolbond/'.length));
    const found = usesMusl() ? `${system} with musl` : system;
    fail(
      `there is no package of toolbond for ${found}, only for ${systems.join(', ')} ` +
        '(Linux with glibc); with a Rust toolchain: cargo install toolbond-cli',
    );
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
child.on('error', (error) => fail(`cannot run ${child.spawnfile}: ${error.message}`));

// `process.stdin` must not be touched: Node would make it non-blocking, for the program too.
const isOnTerminal = [0, 1, 2].some(isatty);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // A terminal sends SIGINT to both. For the guard, a second one means to wait for nothing.
    if (signal !== 'SIGINT' || !isOnTerminal) {
      child.kill(signal);
    }
  });
}

child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + constants.signals[signal]);
});
