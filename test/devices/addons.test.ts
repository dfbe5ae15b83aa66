import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Addons, createAddons } from "@labwright/controllers";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { setUpParts } from "#mcp-server/cli/commands/setup.ts";
import { programBundle } from "../fixtures/bundle.ts";

const never = new AbortController().signal;
const npm = (args: readonly string[], cwd: string) =>
  execFileSync("npm", args, { cwd, stdio: ["ignore", "ignore", "inherit"] });

let lamp: string;
let folder: string;
let shipped: string;
let installed: string;
let addons: Addons;
/** A package as a registry would give it: the add-on's lockfile knows its hash. No network is needed. */
beforeAll(() => {
  lamp = mkdtempSync(join(tmpdir(), "labwright-lamp-"));
  write(join(lamp, "package.json"), { name: "lamp", version: "1.0.0", main: "lamp.js" });
  writeFileSync(join(lamp, "lamp.js"), 'exports.glow = () => "warm";\n');
  npm(["pack", "--silent"], lamp);
});
afterAll(() => rmSync(lamp, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-addons-"));
  shipped = join(folder, "shipped");
  installed = join(folder, "data", "addons");
  addons = createAddons({ shipped, installed });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const write = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

/** An add-on with a package of its own, as a folder of `controllers/addons` is one. */
function ship(name: string, main: string, dependencies: Record<string, string> = { lamp: lampFile() }): void {
  const place = join(shipped, name);
  mkdirSync(place, { recursive: true });
  const labwright = { part: "light" };
  write(join(place, "package.json"), { name, type: "module", main: "main.js", labwright, dependencies });
  writeFileSync(join(place, "main.js"), main);
  npm(["install", "--package-lock-only", "--silent"], place);
}
const lampFile = () => `file:${join(lamp, "lamp-1.0.0.tgz")}`;
const glowing = 'import lamp from "lamp"; export const light = lamp.glow();\n';

async function install(name: string): Promise<string[]> {
  const lines: string[] = [];
  await addons.install(name, { signal: never, progress: (line) => lines.push(line) });
  return lines;
}

/** Whole or not, of any build. */
const left = () =>
  existsSync(installed) ? readdirSync(installed).flatMap((name) => readdirSync(join(installed, name))) : [];

describe("an add-on", () => {
  it("is missing at first, with the command that installs it; then it is installed once and loaded by path", async () => {
    ship("bulb", glowing);
    expect(addons.list()).toEqual([{ name: "bulb", part: "light" }]);
    expect(addons.state("bulb")).toBe("missing");
    await expect(addons.load("bulb")).rejects.toMatchObject({
      code: "ADDON_MISSING",
      message: "The add-on bulb is not installed. Run: labwright setup light",
    });
    expect(await install("bulb")).toEqual([
      "bulb: installing what its lockfile says",
      expect.stringMatching(/^bulb: installed in \d+ s$/),
    ]);
    expect(addons.state("bulb")).toBe("installed");
    expect(await addons.load("bulb")).toMatchObject({ light: "warm" });
    expect(addons.folder("bulb").startsWith(join(installed, "bulb"))).toBe(true);
    expect(await install("bulb")).toEqual(["bulb: installed"]);
  });

  it("of another build is not loaded, and is replaced by this build's", async () => {
    ship("bulb", glowing);
    await install("bulb");
    ship("bulb", 'export const light = "cold";\n', {});
    expect(addons.state("bulb")).toBe("outdated");
    expect(() => addons.folder("bulb")).toThrow(
      "The add-on bulb is installed for another build. Run: labwright setup light",
    );
    await install("bulb");
    expect(left()).toHaveLength(1);
    expect(await addons.load("bulb")).toMatchObject({ light: "cold" });
  });

  it("that does not load says why and what to do", async () => {
    ship("bulb", 'import "no-such-package";\n');
    await install("bulb");
    await expect(addons.load("bulb")).rejects.toMatchObject({
      code: "ADDON_UNUSABLE",
      message: expect.stringMatching(/no-such-package[\s\S]*labwright setup light/),
    });
  });
});

describe("an install that fails", () => {
  it("without a network says so, and leaves nothing", async () => {
    ship("bulb", glowing);
    const lock = {
      name: "bulb",
      lockfileVersion: 3,
      packages: { "": { dependencies: { lamp: "1.0.0" } }, "node_modules/lamp": { version: "1.0.0" } },
    };
    write(join(shipped, "bulb", "package.json"), {
      ...{ name: "bulb", main: "main.js", labwright: { part: "light" } },
      dependencies: { lamp: "1.0.0" },
    });
    write(join(shipped, "bulb", "package-lock.json"), lock);
    vi.stubEnv("npm_config_registry", "http://127.0.0.1:9/");
    vi.stubEnv("npm_config_fetch_retries", "0");
    vi.stubEnv("npm_config_cache", join(folder, "cache"));
    await expect(install("bulb")).rejects.toMatchObject({
      code: "ADDON_INSTALL_FAILED",
      message: expect.stringMatching(/ECONNREFUSED[\s\S]*registry cannot be reached/),
    });
    expect([left(), addons.state("bulb")]).toEqual([[], "missing"]);
  });

  it("since the lockfile is not that of the package says what npm says", async () => {
    ship("bulb", glowing);
    write(join(shipped, "bulb", "package.json"), {
      ...{ name: "bulb", main: "main.js", labwright: { part: "light" } },
      dependencies: { lamp: lampFile(), candle: "1.0.0" },
    });
    await expect(install("bulb")).rejects.toMatchObject({
      code: "ADDON_INSTALL_FAILED",
      message: expect.stringContaining("candle"),
    });
    expect(left()).toEqual([]);
  });

  it("since it was cancelled leaves nothing, npm neither", async () => {
    ship("bulb", glowing);
    const pidFile = slowNpm();
    const cancel = new AbortController();
    const installing = addons.install("bulb", { signal: cancel.signal, progress: () => undefined });
    await vi.waitFor(() => expect(existsSync(pidFile)).toBe(true), { timeout: 20_000 });
    cancel.abort();
    await expect(installing).rejects.toMatchObject({ code: "COMMAND_TIMEOUT" });
    expect(left()).toEqual([]);
  });

  it("since its process was killed leaves what was there, and the next one takes away the rest", async () => {
    ship("bulb", glowing);
    await install("bulb");
    ship("bulb", `${glowing}export const isNew = true;\n`);
    const before = left();
    const pidFile = slowNpm();
    const bundle = join(folder, "addons.mjs");
    await build({ ...programBundle, entryPoints: ["controllers/src/addons/index.ts"], outfile: bundle });
    const source = `
      import { createAddons } from ${JSON.stringify(pathToFileURL(bundle).href)};
      const addons = createAddons(${JSON.stringify({ shipped, installed })});
      await addons.install("bulb", { signal: new AbortController().signal, progress: () => undefined });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "inherit" });
    await vi.waitFor(() => expect(existsSync(pidFile)).toBe(true), { timeout: 20_000 });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(left()).toHaveLength(2);
    expect(left()).toEqual(expect.arrayContaining(before));
    expect(addons.state("bulb")).toBe("outdated");
    vi.unstubAllEnvs();
    await install("bulb");
    expect(left()).toHaveLength(1);
    expect(await addons.load("bulb")).toMatchObject({ light: "warm", isNew: true });
  });
});

/** In npm's place: installs half and goes on for ever. Gives the file that it writes then. */
function slowNpm(): string {
  const file = join(folder, "slowNpm.js");
  const begun = join(folder, "begun");
  writeFileSync(
    file,
    `const { mkdirSync, writeFileSync } = require("node:fs");
     mkdirSync("node_modules/lamp", { recursive: true });
     writeFileSync(${JSON.stringify(begun)}, "");
     setInterval(() => {}, 1000);`,
  );
  vi.stubEnv("npm_execpath", file);
  return begun;
}

describe("labwright setup", () => {
  const setUp = async (...parts: string[]) => {
    const said: string[] = [];
    const terminal = { out: (text: string) => said.push(text), err: () => undefined, env: {}, cwd: folder };
    const code = await setUpParts(parts, addons, { ...terminal, signal: never });
    return { code, said: said.join("") };
  };

  it("installs the add-ons of the parts that it names, with a line for each step", async () => {
    ship("bulb", glowing);
    expect(await setUp("light")).toEqual({
      code: 0,
      said: expect.stringMatching(/^\[setup\] bulb: installing.*\n\[setup\] bulb: installed in \d+ s\n$/),
    });
    expect(await setUp("light")).toEqual({ code: 0, said: "[setup] bulb: installed\n" });
  });

  it("says how a program of an add-on is started", async () => {
    ship("bulb", glowing);
    const file = join(shipped, "bulb", "package.json");
    const described = JSON.parse(readFileSync(file, "utf8"));
    write(file, { ...described, labwright: { part: "light", start: "main.js" } });
    expect((await setUp("light")).said).toContain(
      `[setup] bulb: start it with: node ${join(addons.folder("bulb"), "main.js")}\n`,
    );
  });

  it("refuses an unknown part with the nearest, before it installs any", async () => {
    ship("bulb", glowing);
    await expect(setUp("light", "ligth")).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: 'There is no part "ligth" to set up.',
      hint: "Did you mean light?",
    });
    expect(left()).toEqual([]);
  });
});
