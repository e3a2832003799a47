// Connects a client of the TypeScript SDK to a URL, or to the process that a command starts. MODE is `v1`, or `legacy` or
// `modern` for v2, or the name of a package with a beta of v2. A URL that ends with `/sse` is one of HTTP+SSE. `CLIENT_NAME` is
// what the client calls itself.
export async function connect(mode, [command, ...args], env, fetch) {
  const v1 = "@modelcontextprotocol/sdk/client";
  const v2 = mode.startsWith("client-") ? mode : "@modelcontextprotocol/client";
  const modules = mode === "v1" ? [`${v1}/index.js`, `${v1}/stdio.js`, `${v1}/streamableHttp.js`] : [v2, `${v2}/stdio`, v2];
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(modules.map((name) => import(name)));
  const options = mode === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
  const client = new Client({ name: process.env.CLIENT_NAME ?? "peers", version: "1" }, options);
  if (command.endsWith("/sse")) {
    const { SSEClientTransport } = await import(`${v1}/sse.js`);
    await client.connect(new SSEClientTransport(new URL(command)));
    return client;
  }
  const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command), { fetch })
    : new StdioClientTransport({ command, args, stderr: "inherit", env });
  await client.connect(transport);
  return client;
}
