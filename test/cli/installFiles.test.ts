import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { updateConfig } from "#mcp-server/cli/hosts/configFile.ts";
import { getHost } from "#mcp-server/cli/hosts/hosts.ts";
import { anyRecord, entryOf, installBench, parsed, program, read } from "./installing.ts";

const bench = installBench();
const { labwright, start } = bench;

describe("a host's JSON file", () => {
  const cursor = getHost("cursor");
  const install = bench.into(cursor);

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
    ['{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}', "has a form that cannot be changed safely"],
  ])("is left alone when it is %s", async (before, message) => {
    const { code, err, text } = await install(before);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(text).toBe(before);
  });

  it("is left alone when it is not text", async () => {
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

  it("takes another name, next to the first", async () => {
    await install("{}");
    const { code } = await labwright("cursor", "--name", "labwright-lab", "--data-dir", "lab");
    expect(code).toBe(0);
    expect(parsed(cursor, read(start(cursor)))).toEqual({
      mcpServers: {
        labwright: entryOf(cursor),
        "labwright-lab": entryOf(cursor, { LABWRIGHT_DATA_DIR: join(bench.path("work"), "lab") }),
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
  const install = bench.into(goose);

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
  const install = bench.into(codex);

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

  it("has the first original next to it, however often it is changed", async () => {
    const file = start(claude);
    writeFileSync(file, '{"first": 1}');
    await labwright("claude-code");
    await labwright("claude-code", "--remove");
    await labwright("claude-code", "--data-dir", "x");
    expect(read(`${file}.labwright-backup`)).toBe('{"first": 1}');
  });

  it.each(["there", "not there yet"])("may be a link to a file that is %s, and stays one", async (where) => {
    const file = start(claude);
    const target = bench.path("dotfiles.json");
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
    const file = join(bench.path("work"), "busy.json");
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
    expect(readdirSync(bench.path("work")).sort()).toEqual(["busy.json", "busy.json.labwright-backup"]);
    expect(read(`${file}.labwright-backup`)).toBe("two");
  });

  it("is given up when it changes each time", () => {
    const file = join(bench.path("work"), "busy.json");
    let asked = 0;
    const update = () =>
      updateConfig(file, () => {
        asked++;
        writeFileSync(file, String(asked));
        return "ours";
      });
    expect(update).toThrow(expect.objectContaining({ code: "STORAGE_FAILED" }));
    expect(asked).toBeLessThan(100);
    expect(readdirSync(bench.path("work"))).toEqual(["busy.json"]);
  });

  it("may not be a folder", async () => {
    mkdirSync(start(claude), { recursive: true });
    const { code, err } = await labwright("claude-code");
    expect(code).toBe(2);
    expect(err).toMatch(/^STORAGE_FAILED: /);
  });
});
