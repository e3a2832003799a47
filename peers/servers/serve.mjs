// Serves the servers that `create` returns, of the TypeScript SDK v2: on standard input and output, or with `--http` on a
// free port, which it prints.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

export function serve(create) {
  if (process.argv.includes("--http")) {
    const server = createServer(toNodeHandler(createMcpHandler(create)));
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  } else {
    serveStdio(create);
  }
}
