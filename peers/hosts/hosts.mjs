// How each host is started: where its packages are, what its settings say, and which words start it.
import fs from "node:fs";
import path from "node:path";

/** A program below the packages, by the name of the platform's own package. */
function native(packages, name, file) {
  const place = path.join(packages, `${name}-${process.platform}-${process.arch}`);
  const found = fs.existsSync(place) && fs.readdirSync(place, { recursive: true }).find((one) => file.test(one));
  if (!found) throw new Error(`no program in ${place}`);
  return path.join(place, found);
}

const write = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

/** Text of TOML; strings of JSON are strings of TOML. */
const toml = (value) =>
  Array.isArray(value) ? `[${value.map(toml).join(", ")}]`
  : typeof value === "object" ? `{ ${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)} = ${toml(one)}`).join(", ")} }`
  : JSON.stringify(value);

/** How long a host may wait for a server to start. */
const SECONDS = 60;

/** What a model reads of parts of a result. */
const parts = (content) =>
  typeof content === "string" ? content
  : (content ?? []).map((part) => part.text ?? `[${part.type ?? Object.values(part)[0]?.mimeType}]`).join(" ⏎ ");

export const HOSTS = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    /**
     * `command` and `args` of each server by its name, the folder that stands for the home of the user, the port of the model, and
     * whether the servers are in the host's own configuration of the user.
     */
    start({ packages, servers, home, port, isOwn }) {
      const file = path.join(home, isOwn ? ".claude.json" : "servers.json");
      write(file, JSON.stringify({ mcpServers: servers }, null, 2));
      return {
        file,
        words: [
          native(packages, "@anthropic-ai/claude-code", /^claude(\.exe)?$/), "-p", "go", ...(isOwn ? [] : ["--mcp-config", file, "--strict-mcp-config"]),
          "--allowedTools", Object.keys(servers).map((name) => `mcp__${name}`).join(","), "--output-format", "text",
        ],
        env: {
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          // All tools are offered at once.
          ENABLE_TOOL_SEARCH: "false",
          MCP_TIMEOUT: `${SECONDS * 1000}`,
        },
      };
    },
    /** Which of the offered tools are those of a server: `s`, or `s` and a number. */
    isOfServer: ({ name }) => /^mcp__s\d*__/.test(name),
    /** What the model reads of a result, and whether it is told that it is an error. */
    read: ({ content, isError }) => ({ isError, text: parts(content) }),
  },
  codex: {
    package: "@openai/codex",
    start({ packages, servers, home, port }) {
      const settings = [
        'model = "scripted"', 'model_provider = "scripted"', "check_for_update_on_startup = false",
        "[analytics]", "enabled = false", "[features]", "apps = false", "plugins = false", "remote_plugin = false",
        "[model_providers.scripted]", 'name = "scripted"', `base_url = "http://127.0.0.1:${port}/v1"`, 'wire_api = "responses"', 'env_key = "SCRIPTED_KEY"',
        ...Object.entries(servers).flatMap(([name, server]) => [`[mcp_servers.${name}]`, `startup_timeout_sec = ${SECONDS}`, ...Object.entries(server).map(([key, value]) => `${key} = ${toml(value)}`)]),
      ];
      const file = path.join(home, ".codex/config.toml");
      write(file, `${settings.join("\n")}\n`);
      return {
        file,
        words: [
          native(packages, "@openai/codex", /(^|[\\/])bin[\\/]codex(\.exe)?$/), "exec", "--skip-git-repo-check",
          "--dangerously-bypass-approvals-and-sandbox", "go",
        ],
        env: { CODEX_HOME: path.join(home, ".codex"), SCRIPTED_KEY: "none" },
      };
    },
    isOfServer: ({ namespace }) => /^mcp__s\d*$/.test(namespace),
    // The model is not told which results are errors; the lines for people say so.
    read: ({ content }, index, said) => ({
      isError: [...said.matchAll(/^mcp: s\/.* \((completed|failed)\)$/gm)][index]?.[1] === "failed",
      text: parts(content).replace(/^Wall time: [\d.]+ seconds\nOutput:\s*(⏎ )?/, ""),
    }),
  },
  "gemini-cli": {
    package: "@google/gemini-cli",
    start({ packages, servers, home, port }) {
      const settings = {
        mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, { ...server, trust: true }])),
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        model: { skipNextSpeakerCheck: true },
      };
      write(path.join(home, ".gemini/settings.json"), JSON.stringify(settings));
      return {
        words: [process.execPath, path.join(packages, "@google/gemini-cli/bundle/gemini.js"), "-p", "go", "--approval-mode", "yolo", "-m", "gemini-2.5-pro"],
        env: { GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`, GEMINI_API_KEY: "none", GEMINI_CLI_HOME: home },
      };
    },
    isOfServer: ({ name }) => /^mcp_s\d*_/.test(name),
    read({ content, isError, beside }) {
      // An error quotes the whole result as JSON.
      const quoted = content.error?.split(" with response: ")[1];
      const inside = quoted && JSON.parse(quoted)[0].functionResponse.response;
      const text = inside ? inside.error?.message ?? parts(inside.content) ?? quoted : content.error ?? content.output ?? JSON.stringify(content);
      const tagged = /<\/?untrusted_context>\n?/g;
      return { isError, text: [text.replaceAll(tagged, "").trim(), ...(beside.length > 0 ? [parts(beside)] : [])].join(" ⏎ ") };
    },
  },
};
