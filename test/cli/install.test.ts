import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { updateConfig } from "../../mcp-server/src/cli/hosts/configFile.ts";
import { getHost, type Host, hosts } from "../../mcp-server/src/cli/hosts/hosts.ts";
import { thisMachine } from "../../mcp-server/src/cli/hosts/machine.ts";
import { tomlFormat } from "../../mcp-server/src/cli/hosts/tomlFormat.ts";
import { run, temporaryFolder } from "./fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let work: string;
beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder.path, "home");
  work = join(folder.path, "work");
  mkdirSync(home);
  mkdirSync(work);
});
afterEach(() => folder.remove());

const labwright = (...args: string[]) =>
  run(["install", ...args], { env: { HOME: home, USERPROFILE: home }, cwd: work });

const program = join(process.cwd(), "mcp-server", "bin", "labwright.js");

/** What a host must be told, in its own words. */
function entryOf({ name, dialect }: Host, env?: Record<string, string>): Record<string, unknown> {
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

/** A host that has been started once: its folder is there. Gives its file. */
function start({ user }: Host): string {
  const place = user(thisMachine({ HOME: home, USERPROFILE: home }, work)).at(-1);
  if (place === undefined) throw new Error("no place");
  mkdirSync(place.folder, { recursive: true });
  return place.file;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const read = (file: string) => readFileSync(file, "utf8");

const anyRecord = z.record(z.string(), z.unknown());

/** By other means than those that changed the file, where there are such. JSON here has comments on lines of their own. */
function parsed({ dialect }: Host, text: string): Record<string, unknown> {
  if (dialect.format === "yaml") return anyRecord.parse(parseYaml(text));
  if (dialect.format === "toml") return anyRecord.parse(tomlFormat.parse(text));
  const plain = text.replace(/^\uFEFF/, "").replace(/^\s*\/\/.*$/gm, "");
  return anyRecord.parse(JSON.parse(plain.replace(/,(\s*[}\]])/g, "$1")));
}

/** With another server, comments and spacing of their own. */
function sample({ dialect }: Host): string {
  const { format, container } = dialect;
  if (format === "yaml") {
    return `# mine\nGOOSE_MODEL:   "some-model"   # cheap\n\n${container}:\n  # theirs\n  other:\n    enabled: true\n    cmd: other\n    args:\n    - -y\n    - "a  b"\n\nlast: [1,2,  3]   # end\n`;
  }
  if (format === "toml") {
    return `# mine\nmodel   = "some-model"   # cheap\n\n[${container}.other]  # theirs\ncommand = "other"\nargs = [\n  "-y", # yes\n  "[${container}.labwright]",\n]\n\n# of the next\n[history]\npersistence   = "none"\n`;
  }
  return `// mine\n{\n    "theme": "dark",\n    // theirs\n    "${container}": {\n        "other": { "command": "other", "args": ["a",   "b"] },\n    },\n    "last": [1,2,   3],\n}\n`;
}

const broken = {
  json: '{\n  "a": {,\n}\n',
  yaml: "a: 1\nb: [1, 2\nc: 3\n",
  toml: 'a = 1\nb = = 2\nc = "3"\n',
};

describe.each(hosts.map((host) => [host.name, host] as const))("labwright install %s", (name, host) => {
  const { container } = host.dialect;

  it("makes the file where there is none, with the bridge of this installation", async () => {
    const file = start(host);
    const { code, out, err } = await labwright(name);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`${host.title} has labwright now: ${file}\n`);
    expect(parsed(host, read(file))).toEqual({ [container]: { labwright: entryOf(host) } });
    expect(existsSync(`${file}.labwright-backup`)).toBe(false);
  });

  it("leaves all else in the file as it is, and takes itself out without a trace", async () => {
    const file = start(host);
    write(file, sample(host));
    expect(await labwright(name)).toMatchObject({ code: 0, err: "" });
    const text = read(file);
    expect(parsed(host, text)).toMatchObject({ [container]: { labwright: entryOf(host) } });
    let from = 0;
    for (const line of sample(host).split("\n")) {
      const at = text.indexOf(line, from);
      expect(at, line).toBeGreaterThanOrEqual(from);
      from = at + line.length;
    }
    expect(read(`${file}.labwright-backup`)).toBe(sample(host));
    const { code, out } = await labwright(name, "--remove");
    expect({ code, out }).toEqual({ code: 0, out: `${host.title} no longer has labwright: ${file}\n` });
    expect(read(file)).toBe(sample(host));
  });

  it("changes nothing the second time, and says so", async () => {
    const file = start(host);
    write(file, sample(host));
    await labwright(name);
    const before = { text: read(file), inode: statSync(file).ino };
    const { code, out } = await labwright(name);
    expect({ code, out }).toEqual({ code: 0, out: `${host.title} has labwright already: ${file}\n` });
    expect({ text: read(file), inode: statSync(file).ino }).toEqual(before);
  });

  it("shows with --dry-run what it would change, and changes nothing", async () => {
    const file = start(host);
    write(file, sample(host));
    const { code, out } = await labwright(name, "--dry-run");
    expect(code).toBe(0);
    expect(out).toMatch(/^Would change .*\n/);
    expect(out).toMatch(/^\+ .*labwright/m);
    expect(read(file)).toBe(sample(host));
    expect(readdirSync(dirname(file)).filter((entry) => entry.includes("labwright"))).toEqual([]);
    expect((await labwright(name, "--dry-run", "--remove")).out).toContain("has no labwright");
  });

  it("has nothing to remove where it is not, and makes no file for that", async () => {
    const file = start(host);
    const { code, out } = await labwright(name, "--remove");
    expect({ code, out }).toEqual({ code: 0, out: `${host.title} has no labwright: ${file}\n` });
    expect(existsSync(file)).toBe(false);
  });

  it("leaves a file that does not parse alone, names its line and says what to add by hand", async () => {
    const file = start(host);
    const text = broken[host.dialect.format];
    write(file, text);
    const { code, out, err } = await labwright(name);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^CONFIG_INVALID: .*:[23]: /);
    expect(err).toContain(`${file}:`);
    expect(err).toContain(program);
    expect(read(file)).toBe(text);
    expect(existsSync(`${file}.labwright-backup`)).toBe(false);
  });

  it("leaves a read-only file alone", async () => {
    const file = start(host);
    write(file, sample(host));
    chmodSync(file, 0o444);
    const { code, err } = await labwright(name);
    expect(code).toBe(2);
    expect(err).toBe(
      `PROTECTED: ${file} is read-only.\nMake it writable and run this again, or put in by hand what --print shows.\n`,
    );
    expect(read(file)).toBe(sample(host));
  });

  it("keeps what the user set on the server, and sets only what starts it", async () => {
    const file = start(host);
    await labwright(name, "--data-dir", join(home, "old"));
    const entry = { ...entryOf(host, { MINE: "1", LABWRIGHT_DATA_DIR: join(home, "old") }), disabled: true };
    const key = host.dialect.format === "yaml" ? "envs" : "env";
    write(file, withMine(host, read(file)));
    expect(parsed(host, read(file))).toMatchObject({
      [container]: { labwright: { [key]: { MINE: "1" }, disabled: true } },
    });
    expect(await labwright(name, "--data-dir", join(home, "old"))).toMatchObject({
      out: expect.stringContaining("already"),
    });
    expect(await labwright(name)).toMatchObject({ code: 0 });
    expect(parsed(host, read(file))).toEqual({
      [container]: { labwright: { ...entry, [key]: { MINE: "1" } } },
    });
  });

  it("says where it looked when the host is not there, and still prints", async () => {
    const { code, out, err } = await labwright(name);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(`${host.title} was not found on this machine. Looked for:\n  ${home}`);
    const printed = await labwright(name, "--print");
    expect(printed.code).toBe(0);
    expect(parsed(host, printed.out)).toEqual({ [container]: { labwright: entryOf(host) } });
    expect(printed.err).toContain(`It goes into ${home}`);
    expect(readdirSync(home)).toEqual([]);
  });

  it("writes the project's file with --project where the host has one", async () => {
    const { code, out, err } = await labwright(name, "--project");
    if (host.project === undefined) {
      expect(code).toBe(2);
      expect(err).toContain(`${host.title} has no settings for a single project.`);
      return;
    }
    expect(code).toBe(0);
    expect(out).toContain("It names a path of this machine");
    expect(parsed(host, read(join(work, host.project)))).toEqual({
      [container]: { labwright: entryOf(host) },
    });
    expect(readdirSync(home)).toEqual([]);
  });
});

/** A user's own variable and key, by text, since the entry has only ours. */
function withMine({ dialect }: Host, text: string): string {
  if (dialect.format === "yaml") {
    return text.replace(/( +)envs:\n/, "$1disabled: true\n$1envs:\n$1  MINE: '1'\n");
  }
  if (dialect.format === "toml") {
    return text
      .replace(/(\[mcp_servers\.labwright\])\n/, "$1\ndisabled = true\n")
      .replace(/(\.env\])\n/, '$1\nMINE = "1"\n');
  }
  return text.replace(/"env": \{/, '"disabled": true, "env": { "MINE": "1",');
}

describe("a host's JSON file", () => {
  const cursor = getHost("cursor");
  const install = async (text: string | Buffer, ...args: string[]) => {
    const file = start(cursor);
    writeFileSync(file, text);
    const ran = await labwright("cursor", ...args);
    return { ...ran, file, text: read(file) };
  };

  it("keeps tabs, the line breaks of Windows and its byte order mark", async () => {
    const { code, text } = await install('\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}\r\n');
    expect(code).toBe(0);
    expect(text.startsWith("\uFEFF{\r\n")).toBe(true);
    expect(text).toContain('\r\n\t\t"labwright": {\r\n\t\t\t"type": "stdio",\r\n');
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
  });

  it.each([
    "",
    "  \n",
    "{}",
    '{"mcpServers": null}',
    '{"mcpServers": {}}',
    '{"a": 1}',
  ])("may be %j", async (before) => {
    const { code, text } = await install(before);
    expect(code).toBe(0);
    expect(parsed(cursor, text)).toMatchObject({ mcpServers: { labwright: entryOf(cursor) } });
  });

  it.each([
    ["[]", "the file is not an object"],
    ['"x"', "the file is not an object"],
    ['{"mcpServers": []}', '"mcpServers" is not an object'],
    ['{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}', "stands in a form that cannot be changed safely"],
  ])("is left alone when it is %s", async (before, message) => {
    const { code, err, text } = await install(before);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(text).toBe(before);
  });

  it("is left alone when it is no text", async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const { code, err, file } = await install(bytes);
    expect(code).toBe(2);
    expect(err).toMatch(/^CONFIG_INVALID: .* is not UTF-8\./);
    expect(readFileSync(file)).toEqual(bytes);
  });

  it("keeps comments inside our own entry", async () => {
    const { text } = await install(
      '{"mcpServers": {"labwright": {\n  // mine\n  "command": "old",\n  "args": []\n}}}',
    );
    expect(text).toContain("  // mine\n");
    expect(parsed(cursor, text)).toEqual({ mcpServers: { labwright: entryOf(cursor) } });
  });

  it.each([
    '{\n  "mcpServers": {\n    "a": {} // of a\n  }\n}\n',
    '{\n  "mcpServers": {\n    "a": {}, // of a\n  }\n}\n',
    '{\n  "mcpServers": {\n    "a": {} /* of a */\n    // the end\n  }\n}\n',
    '{\n  "mcpServers": { "a": {}, /* , */ "b": {} } // of all\n}\n',
    '{"mcpServers":{"a":{}}}',
    '{"mcpServers":{"a":{}, }}',
  ])("gets back what it was when we leave: %j", async (before) => {
    const { text } = await install(before);
    expect(text).not.toBe(before);
    for (const [comment] of before.matchAll(/\/\/.*|\/\*.*?\*\//g)) expect(text).toContain(comment);
    expect(text).not.toMatch(/labwright[\s\S]*of a\b/);
    expect((await labwright("cursor", "--remove")).code).toBe(0);
    expect(read(start(cursor))).toBe(before);
  });

  it.each([
    ['{"mcpServers": {"labwright": {}, "b": 1}}', '{"mcpServers": { "b": 1}}'],
    ['{"mcpServers": {"labwright": {}}}', '{"mcpServers": {}}'],
    ['{"mcpServers": {"a": 1 /* , */ , "labwright": {}}}', '{"mcpServers": {"a": 1 /* , */ }}'],
  ])("loses only our entry: %s", async (before, after) => {
    expect(await install(before, "--remove")).toMatchObject({ code: 0, text: after });
  });

  it("gets a server with an address replaced whole", async () => {
    const { text } = await install(
      '{"mcpServers": {"labwright": {"type": "http", "url": "http://127.0.0.1:7333/mcp"}}}',
    );
    expect(parsed(cursor, text)).toEqual({ mcpServers: { labwright: entryOf(cursor) } });
  });

  it("may have thousands of servers", async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`s${i}`, { command: "x", args: ["y".repeat(100)] }]),
    );
    const { code, text } = await install(JSON.stringify({ mcpServers: servers }, null, 2));
    expect(code).toBe(0);
    expect(parsed(cursor, text)).toEqual({ mcpServers: { ...servers, labwright: entryOf(cursor) } });
  });

  it("takes another name, beside the first", async () => {
    await install("{}");
    const { code } = await labwright("cursor", "--name", "labwright-lab", "--data-dir", "lab");
    expect(code).toBe(0);
    expect(parsed(cursor, read(start(cursor)))).toEqual({
      mcpServers: {
        labwright: entryOf(cursor),
        "labwright-lab": entryOf(cursor, { LABWRIGHT_DATA_DIR: join(work, "lab") }),
      },
    });
    await labwright("cursor", "--remove");
    expect(Object.keys(anyRecord.parse(parsed(cursor, read(start(cursor))).mcpServers))).toEqual([
      "labwright-lab",
    ]);
  });
});

describe("Goose's YAML file", () => {
  const goose = getHost("goose");
  const install = async (text: string, ...args: string[]) => {
    const file = start(goose);
    writeFileSync(file, text);
    const ran = await labwright("goose", ...args);
    return { ...ran, text: read(file) };
  };

  it.each([
    "",
    "# nothing yet\n",
    "extensions: {}\n",
    "extensions:\n",
    "extensions: {a: {cmd: x}}\n",
    "a: 1",
  ])("may be %j", async (before) => {
    const { code, text } = await install(before);
    expect(code).toBe(0);
    expect(parsed(goose, text)).toMatchObject({ extensions: { labwright: entryOf(goose) } });
    if (before.includes("#")) expect(text).toContain("# nothing yet\n");
  });

  it("says {} and not nothing when the last extension is removed", async () => {
    await install("a: 1 # one\n");
    await labwright("goose", "--remove");
    expect(read(start(goose))).toBe("a: 1 # one\nextensions: {}\n");
  });

  it("is changed in its own place when the command is another", async () => {
    const { text } = await install(
      "extensions:\n  a: {cmd: x}\n  labwright:\n    enabled: false\n    cmd: old\n  # of z\n  z:\n    cmd: y\n",
    );
    expect(text).toMatch(
      /^extensions:\n {2}a: \{cmd: x\}\n {2}labwright:\n {4}enabled: false\n[\s\S]*\n {2}# of z\n {2}z:\n {4}cmd: y\n$/,
    );
    expect(parsed(goose, text)).toMatchObject({
      extensions: { labwright: { enabled: false, cmd: process.execPath, args: [program, "mcp"] } },
    });
  });

  it("is left alone when it holds two documents or a bomb of aliases", async () => {
    const two = "a: 1\n---\nb: 2\n";
    const refused = { code: 2, err: expect.stringMatching(/^CONFIG_INVALID: /) };
    expect(await install(two)).toMatchObject({ ...refused, text: two });
    const bomb = `a: &a [x]\n${Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [${`*${i === 0 ? "a" : `b${i - 1}`},`.repeat(9)}]\n`).join("")}`;
    expect(await install(bomb)).toMatchObject({ ...refused, text: bomb });
  });
});

describe("Codex's TOML file", () => {
  const codex = getHost("codex-cli");
  const install = async (text: string) => {
    const file = start(codex);
    writeFileSync(file, text);
    const ran = await labwright("codex-cli");
    return { ...ran, text: read(file) };
  };

  it("gets only our table replaced, with those below it, and keeps the user's values", async () => {
    const { code, text } = await install(
      `[mcp_servers.labwright]\ncommand = "old"\nargs = []\nstartup_timeout_sec = 30\n\n[mcp_servers.labwright.env]\nMINE = "1"\n\n# of b\n[mcp_servers.b]\ncommand = "b"\n`,
    );
    expect(code).toBe(0);
    expect(text.endsWith('\n# of b\n[mcp_servers.b]\ncommand = "b"\n')).toBe(true);
    expect(parsed(codex, text)).toEqual({
      mcp_servers: {
        labwright: { ...entryOf(codex), startup_timeout_sec: 30, env: { MINE: "1" } },
        b: { command: "b" },
      },
    });
  });

  it("is not misled by texts and lists that look like headers", async () => {
    const before = `text = """\n[mcp_servers.labwright]\ncommand = "x"\n"""\nlist = [\n[1],\n]\n`;
    const { text } = await install(before);
    expect(text.startsWith(`${before}\n[mcp_servers.labwright]\n`)).toBe(true);
    await labwright("codex-cli", "--remove");
    expect(read(start(codex))).toBe(before);
  });

  it("keeps the line breaks of Windows", async () => {
    const { text } = await install('a = 1\r\n\r\n[b]\r\nc = "d"\r\n');
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(parsed(codex, text)).toMatchObject({ mcp_servers: { labwright: entryOf(codex) } });
  });

  it.each([
    'mcp_servers = { labwright = { command = "old" } }\n',
    '[mcp_servers]\nlabwright = { command = "old" }\n',
    'mcp_servers.labwright.command = "old"\n',
    "mcp_servers = {}\n",
  ])("is left alone, with what to add by hand, when it says %j", async (before) => {
    const { code, err, text } = await install(before);
    expect({ code, text }).toEqual({ code: 2, text: before });
    expect(err).toContain("cannot be changed safely");
    expect(err).toContain("[mcp_servers.labwright]\n");
  });
});

describe("a host's file", () => {
  const claude = getHost("claude-code");

  it("keeps its mode, and so does the copy", async () => {
    const file = start(claude);
    writeFileSync(file, '{"oauth": "s"}', { mode: 0o600 });
    await labwright("claude-code");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(`${file}.labwright-backup`).mode & 0o777).toBe(0o600);
  });

  it("has the first original beside it, however often it is changed", async () => {
    const file = start(claude);
    writeFileSync(file, '{"first": 1}');
    await labwright("claude-code");
    await labwright("claude-code", "--remove");
    await labwright("claude-code", "--data-dir", "x");
    expect(read(`${file}.labwright-backup`)).toBe('{"first": 1}');
  });

  it.each(["there", "not there yet"])("may be a link to a file that is %s, and stays one", async (where) => {
    const file = start(claude);
    const target = join(folder.path, "dotfiles.json");
    if (where === "there") writeFileSync(target, '{"a": 1}\n');
    symlinkSync("../dotfiles.json", file);
    expect(await labwright("claude-code")).toMatchObject({ code: 0 });
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(parsed(claude, read(target))).toMatchObject({ mcpServers: { labwright: entryOf(claude) } });
    expect(existsSync(`${target}.labwright-backup`)).toBe(where === "there");
  });

  it("is left alone when its links lead in a circle", async () => {
    const file = start(claude);
    symlinkSync(`${file}.two`, file);
    symlinkSync(file, `${file}.two`);
    const { code, err } = await labwright("claude-code");
    expect(code).toBe(2);
    expect(err).toMatch(/^STORAGE_FAILED: .* more than 40 links/);
    expect(lstatSync(`${file}.two`).isSymbolicLink()).toBe(true);
  });

  it("is read again when its host wrote it meanwhile", () => {
    const file = join(work, "busy.json");
    writeFileSync(file, "one");
    let asked = 0;
    const change = updateConfig(file, (text) => {
      asked++;
      if (asked === 1) writeFileSync(file, "two");
      return `${text} and ours`;
    });
    expect(asked).toBe(2);
    expect(change).toMatchObject({ before: "two", after: "two and ours" });
    expect(read(file)).toBe("two and ours");
    expect(readdirSync(work).sort()).toEqual(["busy.json", "busy.json.labwright-backup"]);
    expect(read(`${file}.labwright-backup`)).toBe("two");
  });

  it("is given up when it changes each time", () => {
    const file = join(work, "busy.json");
    let asked = 0;
    const update = () =>
      updateConfig(file, () => {
        asked++;
        writeFileSync(file, String(asked));
        return "ours";
      });
    expect(update).toThrow(expect.objectContaining({ code: "STORAGE_FAILED" }));
    expect(asked).toBeLessThan(100);
    expect(readdirSync(work)).toEqual(["busy.json"]);
  });

  it("may not be a folder", async () => {
    mkdirSync(start(claude), { recursive: true });
    const { code, err } = await labwright("claude-code");
    expect(code).toBe(2);
    expect(err).toMatch(/^STORAGE_FAILED: /);
  });
});

describe("labwright install without a host", () => {
  it("shows which hosts are here and whether they start this installation", async () => {
    start(getHost("zed"));
    start(getHost("cursor"));
    writeFileSync(start(getHost("gemini-cli")), "{");
    writeFileSync(start(getHost("codex-cli")), '[mcp_servers.labwright]\ncommand = "old"\n');
    await labwright("cursor");
    const { code, out } = await labwright();
    expect(code).toBe(0);
    expect(out.trimEnd().split("\n")).toHaveLength(hosts.length);
    expect(out).toMatch(/^claude-desktop +not found$/m);
    expect(out).toMatch(/^cursor +has labwright +.*mcp\.json$/m);
    expect(out).toMatch(/^zed +without labwright +.*settings\.json$/m);
    expect(out).toMatch(/^gemini-cli +cannot be read +.*settings\.json$/m);
    expect(out).toMatch(/^codex-cli +has labwright, with another command +.*config\.toml$/m);
  });

  it("shows the files of a project with --project", async () => {
    await labwright("vscode", "--project");
    const { out } = await labwright("--project");
    expect(out).toMatch(/^vscode +has labwright +.*\.vscode\/mcp\.json$/m);
    expect(out).toMatch(/^cursor +without labwright +/m);
    expect(out).not.toContain("goose");
  });

  it.each(["--remove", "--print", "--dry-run"])("ends with 2 for %s", async (option) => {
    const { code, err } = await labwright(option);
    expect(code).toBe(2);
    expect(err).toContain("Which host?");
  });
});

describe("labwright install json", () => {
  it("prints what most hosts take, and writes nothing", async () => {
    const { code, out, err } = await labwright("json", "--data-dir", "/data");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toEqual({
      mcpServers: {
        labwright: {
          command: process.execPath,
          args: [program, "mcp"],
          env: { LABWRIGHT_DATA_DIR: "/data" },
        },
      },
    });
    expect([...readdirSync(home), ...readdirSync(work)]).toEqual([]);
  });

  it.each(["--remove", "--project"])("ends with 2 for %s", async (option) => {
    expect(await labwright("json", option)).toMatchObject({ code: 2, out: "" });
  });
});

describe("wrong use", () => {
  it("ends with 2 and the nearest host for an unknown one", async () => {
    const { code, err } = await labwright("curser");
    expect(code).toBe(2);
    expect(err).toMatch(/^INVALID_INPUT: There is no host "curser"\. Did you mean cursor\?/);
  });

  it.each([
    "",
    "a b",
    "a.b",
    "../x",
    "__proto__",
    "x".repeat(65),
  ])("ends with 2 for the name %j", async (name) => {
    start(getHost("cursor"));
    const { code, err } = await labwright("cursor", "--name", name);
    expect(code).toBe(2);
    expect(err).toContain("cannot be the name of a server");
  });

  it("ends with 2 for a configuration that is not there", async () => {
    start(getHost("cursor"));
    expect(await labwright("cursor", "--config", "none.yaml")).toMatchObject({ code: 2, out: "" });
  });

  it("names every host in its help", async () => {
    const { out } = await labwright("--help");
    for (const { name } of hosts) expect(out).toContain(name);
  });
});
