// A scripted model: it speaks the APIs of three vendors, keeps every request, and calls tools as a script says.
import http from "node:http";

/** What a host sends and what it is answered, in the words of each API. */
const APIS = {
  // Anthropic Messages.
  messages: {
    path: /^\/v1\/messages(\?|$)/,
    tools: (body) => (body.tools ?? []).map(({ name, description, input_schema }) => ({ name, description, schema: input_schema })),
    results: (body) =>
      body.messages
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .filter(({ type }) => type === "tool_result")
        .map(({ content, is_error }) => ({ isError: is_error === true, content })),
    events: (call, id) => {
      const block = call
        ? { start: { type: "tool_use", id, name: call.name, input: {} }, delta: { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) } }
        : { start: { type: "text", text: "" }, delta: { type: "text_delta", text: "done" } };
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id: `msg_${id}`, type: "message", role: "assistant", model: "scripted", content: [], stop_reason: null, stop_sequence: null, usage };
      return [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: block.start },
        { type: "content_block_delta", index: 0, delta: block.delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }, usage },
        { type: "message_stop" },
      ];
    },
    whole: (call, id) => ({
      id: `msg_${id}`, type: "message", role: "assistant", model: "scripted", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
      content: call ? [{ type: "tool_use", id, name: call.name, input: call.arguments }] : [{ type: "text", text: "done" }],
      stop_reason: call ? "tool_use" : "end_turn",
    }),
  },
  // OpenAI Responses.
  responses: {
    path: /\/responses(\?|$)/,
    tools: (body) =>
      (body.tools ?? []).flatMap((tool) =>
        (tool.type === "namespace" ? tool.tools : [tool]).map(({ name, description, parameters }) => ({
          namespace: tool.type === "namespace" ? tool.name : undefined, name, description, schema: parameters,
        })),
      ),
    results: (body) =>
      body.input.filter(({ type }) => type === "function_call_output").map(({ output }) => ({ content: output })),
    events: (call, id) => {
      const response = { id: `resp_${id}`, object: "response", status: "completed", output: [] };
      const item = call
        ? { type: "function_call", id: `fc_${id}`, call_id: id, namespace: call.namespace, name: call.name, arguments: JSON.stringify(call.arguments) }
        : { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text: "done" }] };
      const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
      return [
        { type: "response.created", response },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { ...response, usage } },
      ];
    },
  },
  // Gemini generateContent.
  gemini: {
    path: /:(streamGenerateContent|generateContent)(\?|$)/,
    tools: (body) =>
      (body.tools ?? [])
        .flatMap(({ functionDeclarations }) => functionDeclarations ?? [])
        .map(({ name, description, parametersJsonSchema, parameters }) => ({ name, description, schema: parametersJsonSchema ?? parameters })),
    results: (body) =>
      body.contents.flatMap(({ parts }) => {
        const answers = parts.filter(({ functionResponse }) => functionResponse);
        // Images follow the answer, beside it.
        const beside = parts.filter(({ functionResponse }) => !functionResponse);
        return answers.map(({ functionResponse: { response, parts: inside } }) => ({
          isError: response?.error !== undefined, content: response, beside: [...(inside ?? []), ...beside],
        }));
      }),
    events: (call, id) => [APIS.gemini.whole(call, id)],
    whole: (call, id) => ({
      candidates: [{
        content: { role: "model", parts: [call ? { functionCall: { id, name: call.name, args: call.arguments } } : { text: "done" }] },
        finishReason: "STOP", index: 0,
      }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }),
  },
};

/**
 * Starts the model. `plan(tools)` returns the calls for the tools that a host offers first, each a `tool` and its
 * `arguments`; each is made after the result of the one before. A request without tools, such as one for a title, is answered with a word.
 */
export async function startModel(plan) {
  const seen = { requests: [], others: [], tools: [], calls: [], results: [] };
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const api = Object.values(APIS).find(({ path }) => request.method === "POST" && path.test(request.url));
      if (!api) {
        seen.others.push(`${request.method} ${request.url}`);
        response.writeHead(404, { "content-type": "application/json" }).end("{}");
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks));
      seen.requests.push({ url: request.url, body });
      const tools = api.tools(body);
      let call;
      if (tools.length > 0) {
        const results = api.results(body);
        if (results.length === 0) seen.calls = plan(tools);
        // Tools may be added while it runs.
        seen.tools = tools;
        seen.results = results;
        const next = seen.calls[results.length];
        call = next && { namespace: next.tool.namespace, name: next.tool.name, arguments: next.arguments };
      }
      const id = `call_${seen.requests.length}`;
      if (body.stream === true || request.url.includes("stream")) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const event of api.events(call, id)) {
          response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
        }
        response.end();
      } else {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(api.whole(call, id)));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, seen, close: () => server.closeAllConnections() || server.close() };
}
