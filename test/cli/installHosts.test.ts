import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bridgeCommand } from "#mcp-server/cli/hosts/bridgeCommand.ts";
import { getHost, hosts } from "#mcp-server/cli/hosts/hosts.ts";
import type { Machine } from "#mcp-server/cli/hosts/machine.ts";
import { readBridgeOptions } from "#mcp-server/cli/options.ts";
import { temporaryFolder } from "./fixtures.ts";

const homes = { linux: "/home/anna", darwin: "/Users/anna", win32: "C:\\Users\\anna" } as const;
type Platform = keyof typeof homes;

function machine(platform: Platform, env: Record<string, string> = {}, folders: string[] = []): Machine {
  return { platform, home: homes[platform], env, cwd: homes[platform], folders: () => folders };
}

const files = (host: string, of: Machine) =>
  getHost(host)
    .user(of)
    .map(({ file }) => file);

const roaming = "C:\\Users\\anna\\AppData\\Roaming";

describe("the user's file of a host", () => {
  it.each<[string, Platform, string[]]>([
    ["claude-desktop", "linux", ["/home/anna/.config/Claude/claude_desktop_config.json"]],
    [
      "claude-desktop",
      "darwin",
      ["/Users/anna/Library/Application Support/Claude/claude_desktop_config.json"],
    ],
    ["claude-desktop", "win32", [`${roaming}\\Claude\\claude_desktop_config.json`]],
    ["claude-code", "linux", ["/home/anna/.claude.json"]],
    ["claude-code", "darwin", ["/Users/anna/.claude.json"]],
    ["claude-code", "win32", ["C:\\Users\\anna\\.claude.json"]],
    ["cursor", "linux", ["/home/anna/.cursor/mcp.json"]],
    ["cursor", "darwin", ["/Users/anna/.cursor/mcp.json"]],
    ["cursor", "win32", ["C:\\Users\\anna\\.cursor\\mcp.json"]],
    ["vscode", "linux", ["/home/anna/.config/Code/User/mcp.json"]],
    ["vscode", "darwin", ["/Users/anna/Library/Application Support/Code/User/mcp.json"]],
    ["vscode", "win32", [`${roaming}\\Code\\User\\mcp.json`]],
    [
      "windsurf",
      "linux",
      ["/home/anna/.config/devin/mcp_config.json", "/home/anna/.codeium/windsurf/mcp_config.json"],
    ],
    [
      "windsurf",
      "darwin",
      ["/Users/anna/.config/devin/mcp_config.json", "/Users/anna/.codeium/windsurf/mcp_config.json"],
    ],
    [
      "windsurf",
      "win32",
      [`${roaming}\\devin\\mcp_config.json`, "C:\\Users\\anna\\.codeium\\windsurf\\mcp_config.json"],
    ],
    ["zed", "linux", ["/home/anna/.config/zed/settings.json"]],
    ["zed", "darwin", ["/Users/anna/.config/zed/settings.json"]],
    ["zed", "win32", [`${roaming}\\Zed\\settings.json`]],
    ["gemini-cli", "linux", ["/home/anna/.gemini/settings.json"]],
    ["gemini-cli", "darwin", ["/Users/anna/.gemini/settings.json"]],
    ["gemini-cli", "win32", ["C:\\Users\\anna\\.gemini\\settings.json"]],
    ["codex-cli", "linux", ["/home/anna/.codex/config.toml"]],
    ["codex-cli", "darwin", ["/Users/anna/.codex/config.toml"]],
    ["codex-cli", "win32", ["C:\\Users\\anna\\.codex\\config.toml"]],
    ["goose", "linux", ["/home/anna/.config/goose/config.yaml"]],
    ["goose", "darwin", ["/Users/anna/.config/goose/config.yaml"]],
    ["goose", "win32", [`${roaming}\\Block\\goose\\config\\config.yaml`]],
  ])("of %s on %s", (host, platform, expected) => {
    expect(files(host, machine(platform))).toEqual(expected);
  });

  it("is in the table above for every host and platform", () => {
    expect(hosts.map(({ name }) => name)).toEqual([
      "claude-desktop",
      "claude-code",
      "cursor",
      "vscode",
      "windsurf",
      "zed",
      "gemini-cli",
      "codex-cli",
      "goose",
    ]);
  });

  it.each<[string, Platform, Record<string, string>, string]>([
    ["vscode", "linux", { XDG_CONFIG_HOME: "/cfg" }, "/cfg/Code/User/mcp.json"],
    ["vscode", "linux", { XDG_CONFIG_HOME: "relative" }, "/home/anna/.config/Code/User/mcp.json"],
    ["vscode", "win32", { APPDATA: "D:\\Roaming" }, "D:\\Roaming\\Code\\User\\mcp.json"],
    ["zed", "linux", { XDG_CONFIG_HOME: "/cfg" }, "/cfg/zed/settings.json"],
    ["zed", "darwin", { XDG_CONFIG_HOME: "/cfg" }, "/Users/anna/.config/zed/settings.json"],
    ["claude-code", "linux", { CLAUDE_CONFIG_DIR: "/claude" }, "/claude/.claude.json"],
    ["codex-cli", "linux", { CODEX_HOME: "/codex" }, "/codex/config.toml"],
    ["goose", "linux", { GOOSE_PATH_ROOT: "/goose" }, "/goose/config/config.yaml"],
    ["goose", "linux", { GOOSE_PATH_ROOT: "goose" }, "/home/anna/.config/goose/config.yaml"],
  ])("of %s on %s with %j", (host, platform, env, expected) => {
    expect(files(host, machine(platform, env))[0]).toBe(expected);
  });

  it("is the package's own first where Claude Desktop is packaged for Windows", () => {
    const local = "C:\\Users\\anna\\AppData\\Local";
    const name = "Claude_pzs8sxrjxfjjc";
    expect(files("claude-desktop", machine("win32", {}, ["Other", name]))).toEqual([
      `${local}\\Claude-Data\\${name}\\claude_desktop_config.json`,
      `${local}\\Packages\\${name}\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json`,
      `${roaming}\\Claude\\claude_desktop_config.json`,
    ]);
  });
});

describe("the project's file of a host", () => {
  it.each([
    ["claude-desktop", undefined],
    ["claude-code", ".mcp.json"],
    ["cursor", ".cursor/mcp.json"],
    ["vscode", ".vscode/mcp.json"],
    ["windsurf", ".devin/mcp_config.json"],
    ["zed", ".zed/settings.json"],
    ["gemini-cli", ".gemini/settings.json"],
    ["codex-cli", ".codex/config.toml"],
    ["goose", undefined],
  ])("of %s is %s", (host, project) => {
    expect(getHost(host).project).toBe(project);
  });
});

describe("the command of the bridge", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const installed = { node: "/opt/node", program: "/opt/lw/mcp-server/bin/labwright.js" };

  it("is this Node with the program's absolute path", () => {
    expect(bridgeCommand(installed, { cwd: "/" })).toEqual({
      command: "/opt/node",
      args: ["/opt/lw/mcp-server/bin/labwright.js", "mcp"],
      env: {},
    });
  });

  it("is refused from npx's cache, which npm empties, and never names a package", () => {
    const program = join("/home/anna/.npm/_npx/1a2b/node_modules/labwright/mcp-server/bin/labwright.js");
    expect(() => bridgeCommand({ node: "/opt/node", program }, { cwd: "/" })).toThrow("npx's cache");
  });

  it("carries the data directory in its environment and the configuration as an argument, both absolute", () => {
    const config = join(folder.path, "mine.yaml");
    writeFileSync(config, "devices: []\n");
    const settings = { cwd: folder.path, config: "mine.yaml", dataDir: "data" };
    expect(bridgeCommand(installed, settings)).toEqual({
      command: "/opt/node",
      args: [installed.program, "mcp", "--config", config],
      env: { LABWRIGHT_DATA_DIR: join(folder.path, "data") },
    });
  });

  function build(...skills: string[]): string {
    mkdirSync(join(folder.path, "dist"));
    const catalogue = { skills: skills.map((name) => ({ name })) };
    writeFileSync(join(folder.path, "dist", "catalogue.json"), JSON.stringify(catalogue));
    return join(folder.path, "bin", "labwright.js");
  }

  it("asks for the skills that the build has", () => {
    const program = build("run-testcase", "device-status");
    const settings = { cwd: "/", skills: "device-status, run-testcase" };
    const { args } = bridgeCommand({ node: "node", program }, settings);
    expect(args).toEqual([program, "mcp", "--skills", "device-status,run-testcase"]);
    expect(readBridgeOptions(args.slice(2)).skills).toEqual(["device-status,run-testcase"]);
  });

  it("is refused for a skill that the build has not, with the nearest", () => {
    const program = build("run-testcase", "device-status");
    const command = () => bridgeCommand({ node: "node", program }, { cwd: "/", skills: "run-testcases" });
    expect(command).toThrow('There is no skill "run-testcases".');
    expect(command).toThrow(expect.objectContaining({ details: { nearest: ["run-testcase"] } }));
  });

  it.each([
    [{ config: "none.yaml" }, /There is no file at .*none\.yaml/],
    [{ skills: " , " }, /names no skill/],
    [{ skills: "Run Testcase" }, /There is no skill "Run Testcase"/],
    [{ skills: "a;rm -rf ~" }, /There is no skill/],
  ])("is refused for %j", (settings, message) => {
    const command = () => bridgeCommand(installed, { cwd: folder.path, ...settings });
    expect(command).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(command).toThrow(message);
  });
});
