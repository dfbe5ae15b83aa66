import { nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { BridgeCommand } from "./bridgeCommand.ts";
import type { Entry } from "./format.ts";
import { applicationFolder, configFolder, join, localFolder, type Machine } from "./machine.ts";

/** A file that may hold the servers of a host. The host is there when `folder` is. */
export type Place = { file: string; folder: string };

/** How a server is written in a host's file. */
export type Dialect = {
  format: "json" | "yaml" | "toml";
  /** The key at the top under which the servers are, by name. */
  container: string;
  /** A new entry. */
  entry(name: string, command: BridgeCommand): Entry;
  /** The key of the program that is started. */
  program: string;
  /** The keys that start the server. All other keys of an existing entry belong to the user. */
  owned: readonly string[];
  /** The key of the environment. */
  env: string;
};

/** One MCP host. `user` gives its files in order: the first whose folder exists is the one. */
export type Host = {
  name: string;
  title: string;
  dialect: Dialect;
  user(machine: Machine): Place[];
  /** The file in a project, with slashes. Hosts without it know no projects. */
  project?: string;
  /** The folder in a project whose folders with a SKILL.md it reads, with slashes. Hosts without it read none. */
  skills?: string;
  /** What the user does next. */
  next: string;
};

const withEnv = (entry: Entry, env: Record<string, string>): Entry =>
  Object.keys(env).length === 0 ? entry : { ...entry, env };

/** `{command, args, env}` under `container`, the form that most hosts took over from Claude Desktop. */
const common = (container: string, first: Entry = {}): Dialect => ({
  format: "json",
  container,
  entry: (_name, { command, args, env }) => withEnv({ ...first, command, args }, env),
  program: "command",
  owned: [...Object.keys(first), "command", "args"],
  env: "env",
});

const goose: Dialect = {
  format: "yaml",
  container: "extensions",
  entry: (name, { command, args, env }) => ({
    enabled: true,
    type: "stdio",
    name,
    description: "Drives and judges real devices",
    cmd: command,
    args,
    envs: env,
    env_keys: [],
    timeout: 300,
  }),
  program: "cmd",
  owned: ["type", "cmd", "args"],
  env: "envs",
};

const place = (machine: Machine, folder: string, file: string): Place => ({
  folder,
  file: join(machine, folder, file),
});

/**
 * As packaged for Windows, Claude Desktop reads a folder of its own and never `%APPDATA%`: that of the package, and since
 * October 2026 one in `Claude-Data` (anthropics/claude-code issue 26073; no page of the vendor says so). Both carry the
 * publisher's hash in their name.
 */
function packagedClaude(machine: Machine): Place[] {
  if (machine.platform !== "win32") return [];
  const local = localFolder(machine);
  const found = (parent: string, inside: string[], pattern: RegExp) =>
    machine
      .folders(join(machine, local, parent))
      .filter((name) => pattern.test(name))
      .map((name) =>
        place(machine, join(machine, local, parent, name, ...inside), "claude_desktop_config.json"),
      );
  return [
    ...found("Claude-Data", [], /^claude(_|$)/i),
    ...found("Packages", ["LocalCache", "Roaming", "Claude"], /^Claude_/i),
  ];
}

/**
 * The hosts, in the order of the table that the command prints. Each was checked in November 2026 against the page named
 * above it.
 */
export const hosts: readonly Host[] = [
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers; on Linux, community builds in Electron's own place.
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    dialect: common("mcpServers"),
    user: (machine) => [
      ...packagedClaude(machine),
      place(machine, join(machine, applicationFolder(machine), "Claude"), "claude_desktop_config.json"),
    ],
    next: "Quit Claude Desktop and start it again.",
  },
  // https://code.claude.com/docs/en/mcp (scopes); CLAUDE_CONFIG_DIR moves the file into that folder.
  {
    name: "claude-code",
    title: "Claude Code",
    dialect: common("mcpServers", { type: "stdio" }),
    user(machine) {
      const named = machine.env.CLAUDE_CONFIG_DIR;
      if (named) return [place(machine, named, ".claude.json")];
      const folder = join(machine, machine.home, ".claude");
      return [{ folder, file: join(machine, machine.home, ".claude.json") }];
    },
    project: ".mcp.json",
    skills: ".claude/skills",
    next: "Start a new session; /mcp shows it. A server of a project is approved there once.",
  },
  // https://cursor.com/docs/mcp
  {
    name: "cursor",
    title: "Cursor",
    dialect: common("mcpServers", { type: "stdio" }),
    user: (machine) => [place(machine, join(machine, machine.home, ".cursor"), "mcp.json")],
    project: ".cursor/mcp.json",
    skills: ".cursor/skills",
    next: "Restart Cursor.",
  },
  // https://code.visualstudio.com/docs/agents/reference/mcp-configuration and, for the folder of the user's profile,
  // https://code.visualstudio.com/docs/configure/settings
  {
    name: "vscode",
    title: "VS Code",
    dialect: common("servers", { type: "stdio" }),
    user(machine) {
      const folder = join(machine, applicationFolder(machine), "Code");
      return [{ folder, file: join(machine, folder, "User", "mcp.json") }];
    },
    project: ".vscode/mcp.json",
    skills: ".github/skills",
    next: "VS Code asks whether to trust and start it; its tools are available in agent mode.",
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp; as Devin Desktop, its name since June 2026:
  // https://docs.devin.ai/cli/extensibility/mcp/configuration
  {
    name: "windsurf",
    title: "Windsurf (Devin Desktop)",
    dialect: common("mcpServers"),
    user: (machine) => [
      place(machine, join(machine, configFolder(machine), "devin"), "mcp_config.json"),
      place(machine, join(machine, machine.home, ".codeium", "windsurf"), "mcp_config.json"),
    ],
    project: ".devin/mcp_config.json",
    next: "Press refresh in its list of MCP servers.",
  },
  // https://zed.dev/docs/ai/mcp and https://zed.dev/docs/configuring-zed. Versions before 2026 want `source`, later ones
  // pass over it; all want `args`.
  {
    name: "zed",
    title: "Zed",
    dialect: common("context_servers", { source: "custom" }),
    user: (machine) => [
      place(
        machine,
        join(
          machine,
          machine.platform === "darwin" ? join(machine, machine.home, ".config") : configFolder(machine),
          machine.platform === "win32" ? "Zed" : "zed",
        ),
        "settings.json",
      ),
    ],
    project: ".zed/settings.json",
    next: "Zed starts it at once; its agent panel shows a green dot.",
  },
  // https://geminicli.com/docs/tools/mcp-server and https://geminicli.com/docs/reference/configuration
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    dialect: common("mcpServers"),
    user: (machine) => [place(machine, join(machine, machine.home, ".gemini"), "settings.json")],
    project: ".gemini/settings.json",
    next: "Restart Gemini CLI; /mcp shows it.",
  },
  // https://developers.openai.com/codex/mcp; CODEX_HOME moves the folder.
  {
    name: "codex-cli",
    title: "Codex CLI",
    dialect: { ...common("mcp_servers"), format: "toml" },
    user: (machine) => [
      place(machine, machine.env.CODEX_HOME || join(machine, machine.home, ".codex"), "config.toml"),
    ],
    project: ".codex/config.toml",
    skills: ".agents/skills",
    next: "Restart Codex; /mcp shows it. A project's file counts only where Codex trusts the project.",
  },
  // https://block.github.io/goose/docs/guides/config-files; GOOSE_PATH_ROOT moves the folder when it is absolute.
  {
    name: "goose",
    title: "Goose",
    dialect: goose,
    user(machine) {
      const { GOOSE_PATH_ROOT: root } = machine.env;
      const inside = machine.platform === "win32" ? ["Block", "goose", "config"] : ["goose"];
      const folder =
        root && /^([/\\]|[A-Za-z]:)/.test(root)
          ? join(machine, root, "config")
          : join(machine, configFolder(machine), ...inside);
      return [place(machine, folder, "config.yaml")];
    },
    next: "Start a new session of Goose.",
  },
];

/** The form that a host which is not in the table most likely takes; it has no file. */
export const genericHost: Host = {
  name: "json",
  title: "Any other host",
  dialect: common("mcpServers"),
  user: () => [],
  next: "",
};

/** Throws INVALID_INPUT with the nearest names. */
export function getHost(name: string): Host {
  const all = [...hosts, genericHost];
  const found = all.find((host) => host.name === name);
  if (found) return found;
  const names = all.map((host) => host.name);
  const [best] = nearest(name, names, 1);
  throw new ToolError(
    "INVALID_INPUT",
    `There is no host "${name}".${best === undefined ? "" : ` Did you mean ${best}?`}`,
    `Hosts: ${names.join(", ")}. For any other: labwright install json`,
    { nearest: nearest(name, names) },
  );
}
