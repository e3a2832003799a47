// The TypeScript SDK v2 as a server whose tool writes down what it is called with; see `ranged.mjs` and `serve.mjs`.
import { Server } from "@modelcontextprotocol/server";
import { call, tools } from "./ranged.mjs";
import { serve } from "./serve.mjs";

serve(() => {
  const server = new Server({ name: "recorder", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", call);
  return server;
});
