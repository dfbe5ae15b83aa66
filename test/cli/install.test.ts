import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { getHost, type Host, hosts } from "#mcp-server/cli/hosts/hosts.ts";
import { entryOf, installBench, parsed, program, read } from "./installing.ts";

const bench = installBench();
const { labwright, start } = bench;

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
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
    await labwright(name, "--data-dir", join(bench.path("home"), "old"));
    const entry = {
      ...entryOf(host, { MINE: "1", LABWRIGHT_DATA_DIR: join(bench.path("home"), "old") }),
      disabled: true,
    };
    const key = host.dialect.format === "yaml" ? "envs" : "env";
    write(file, withMine(host, read(file)));
    expect(parsed(host, read(file))).toMatchObject({
      [container]: { labwright: { [key]: { MINE: "1" }, disabled: true } },
    });
    expect(await labwright(name, "--data-dir", join(bench.path("home"), "old"))).toMatchObject({
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
    expect(err).toContain(
      `${host.title} was not found on this machine. Looked for:\n  ${bench.path("home")}`,
    );
    const printed = await labwright(name, "--print");
    expect(printed.code).toBe(0);
    expect(parsed(host, printed.out)).toEqual({ [container]: { labwright: entryOf(host) } });
    expect(printed.err).toContain(`It goes into ${bench.path("home")}`);
    expect(readdirSync(bench.path("home"))).toEqual([]);
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
    expect(parsed(host, read(join(bench.path("work"), host.project)))).toEqual({
      [container]: { labwright: entryOf(host) },
    });
    expect(readdirSync(bench.path("home"))).toEqual([]);
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
    expect([...readdirSync(bench.path("home")), ...readdirSync(bench.path("work"))]).toEqual([]);
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
