// Preloaded into servers of the tests: names other than localhost do not resolve.
const dns = require("node:dns");
const { syncBuiltinESMExports } = require("node:module");

const { lookup } = dns;
dns.lookup = (name, options, done) => {
  if (["localhost", "127.0.0.1", "::1"].includes(name)) return lookup(name, options, done);
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: name,
  });
  process.nextTick(done ?? options, error);
};
dns.promises.lookup = async (name, options) =>
  new Promise((give, fail) => dns.lookup(name, options ?? {}, (error, address, family) => (error ? fail(error) : give({ address, family }))));
syncBuiltinESMExports();
