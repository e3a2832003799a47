// What the servers of both TypeScript SDKs ask their clients, and which calls are running.

export const FORM = {
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

export const SAMPLING = {
  messages: [{ role: "user", content: { type: "text", text: "What is six times seven?" } }],
  maxTokens: 10,
};

export const states = {
  known: new Map(),
  get(token) {
    return this.known.get(token) ?? "unknown";
  },
  release(token) {
    this.known.set(token, "released");
    return "done";
  },
  async released(token) {
    while (this.get(token) !== "released") await new Promise((resolve) => setTimeout(resolve, 10));
    return "done";
  },
  // Runs until it is cancelled.
  wait(token, signal) {
    this.known.set(token, "running");
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => {
        this.known.set(token, "cancelled");
        resolve("cancelled");
      }),
    );
  },
};
