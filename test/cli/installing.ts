import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import type { Host } from "#mcp-server/cli/hosts/hosts.ts";
import { thisMachine } from "#mcp-server/cli/hosts/machine.ts";
import { tomlFormat } from "#mcp-server/cli/hosts/tomlFormat.ts";
import { run, temporaryFolder } from "./fixtures.ts";

/** A home and a working folder for each test, and `labwright install` in them. */
export function installBench() {
  let folder: ReturnType<typeof temporaryFolder>;
  const inFolder = (name: string) => join(folder.path, name);
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(inFolder("home"));
    mkdirSync(inFolder("work"));
  });
  afterEach(() => folder.remove());
  const env = () => ({ HOME: inFolder("home"), USERPROFILE: inFolder("home") });
  const labwright = (...args: string[]) => run(["install", ...args], { env: env(), cwd: inFolder("work") });

  /** A host that has been started once: its folder is there. Gives its file. */
  function start({ user }: Host): string {
    const place = user(thisMachine(env(), inFolder("work"))).at(-1);
    if (place === undefined) throw new Error("no place");
    mkdirSync(place.folder, { recursive: true });
    return place.file;
  }

  return {
    path: inFolder,
    labwright,
    start,
    /** Installs into a host whose file has this text. */
    into:
      (host: Host) =>
      async (text: string | Buffer, ...args: string[]) => {
        const file = start(host);
        writeFileSync(file, text);
        const ran = await labwright(host.name, ...args);
        return { ...ran, file, text: read(file) };
      },
  };
}

export const program = join(process.cwd(), "mcp-server", "bin", "labwright.js");

/** The entry that a host needs, in its own format. */
export function entryOf({ name, dialect }: Host, env?: Record<string, string>): Record<string, unknown> {
  const common = { command: process.execPath, args: [program, "mcp"], ...(env && { env }) };
  if (dialect.format === "yaml") {
    return {
      enabled: true,
      type: "stdio",
      name: "labwright",
      description: "Drives and judges real devices",
      cmd: process.execPath,
      args: [program, "mcp"],
      envs: env ?? {},
      env_keys: [],
      timeout: 300,
    };
  }
  if (name === "zed") return { source: "custom", ...common };
  const isTyped = ["claude-code", "cursor", "vscode"].includes(name);
  return isTyped ? { type: "stdio", ...common } : common;
}

export const read = (file: string) => readFileSync(file, "utf8");

export const anyRecord = z.record(z.string(), z.unknown());

/** By other means than those that changed the file, where there are such. JSON here has comments on lines of their own. */
export function parsed({ dialect }: Host, text: string): Record<string, unknown> {
  if (dialect.format === "yaml") return anyRecord.parse(parseYaml(text));
  if (dialect.format === "toml") return anyRecord.parse(tomlFormat.parse(text));
  const plain = text.replace(/^\uFEFF/, "").replace(/^\s*\/\/.*$/gm, "");
  return anyRecord.parse(JSON.parse(plain.replace(/,(\s*[}\]])/g, "$1")));
}
