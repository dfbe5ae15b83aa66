import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(process.cwd(), "mcp-server/bin/setup.mjs");
const isRoot = process.getuid?.() === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-setup-"));
  makeProject();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (...names: string[]) => join(folder, ...names);

function write(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

/** A program on the PATH of the set-up that notes how it was called and then does `body`. */
function program(name: string, body = ""): void {
  write(`bin/${name}`, `#!/bin/sh\necho "${name} $*" >> ${path("calls")}\n${body}\n`);
  chmodSync(path("bin", name), 0o755);
}

const calls = () => (existsSync(path("calls")) ? readFileSync(path("calls"), "utf8").trim().split("\n") : []);

const lockfile = JSON.stringify({
  packages: {
    "": { name: "project" },
    "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/for-another-system": { version: "1.0.0", integrity: "sha512-b", optional: true },
  },
});
const installed = (version: string) =>
  JSON.stringify({ packages: { "node_modules/a": { version, integrity: "sha512-a" } } });

const tvPrograms = [
  ...["ffmpeg", "kodi", "Xvfb", "xdotool", "xev", "irsend", "cec-client"],
  ...["espeak-ng", "pocketsphinx_continuous", "tesseract"],
];
const tvFiles = [
  "usr/share/kodi/addons/pvr.iptvsimple/addon.xml",
  "usr/share/pocketsphinx/model/en-us/en-us",
  "usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
];

/** A small project in which everything is there, unless a test takes it away. */
function makeProject(): void {
  mkdirSync(path("project/mcp-server/bin"), { recursive: true });
  copyFileSync(script, path("project/mcp-server/bin/setup.mjs"));
  write("project/package-lock.json", lockfile);
  write("project/node_modules/.package-lock.json", installed("1.0.0"));
  write(
    "project/mcp-server/build.mjs",
    `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(path("calls"))}, "build\\n");`,
  );
  for (const name of ["sh", "mkdir", "cp", "chmod", "rm"]) linkProgram(name);
  program("npm", `mkdir -p node_modules && cp ../installed node_modules/.package-lock.json`);
  write("installed", installed("1.0.0"));
  program("chromium", "echo Chromium 1.2.3");
  program("flock");
  program("setpriv");
  program("bwrap");
  program("adb");
  program("chromedriver");
  for (const name of tvPrograms) program(name);
  for (const file of tvFiles) write(`root/${file}`, "");
  write("root/usr/lib/postgresql/15/bin/initdb", "#!/bin/sh\n");
  chmodSync(path("root/usr/lib/postgresql/15/bin/initdb"), 0o755);
}

function linkProgram(name: string): void {
  mkdirSync(path("bin"), { recursive: true });
  const from = ["/bin", "/usr/bin"].map((dir) => join(dir, name)).find((file) => existsSync(file));
  if (from === undefined) throw new Error(`no ${name} here`);
  symlinkSync(from, path("bin", name));
}

function setUp(purpose: string, env: Record<string, string> = {}, more: string[] = []) {
  const file = path("project/mcp-server/bin/setup.mjs");
  const result = spawnSync(process.execPath, [file, "--for", purpose, "--root", path("root"), ...more], {
    encoding: "utf8",
    cwd: folder,
    env: { PATH: path("bin"), HOME: folder, ...env },
  });
  return { status: result.status, out: result.stdout, err: result.stderr };
}

describe("when all is there", () => {
  it("only builds, and says what it found", () => {
    const { status, out } = setUp("test");
    expect(status).toBe(0);
    expect(calls().filter((call) => call !== "chromium --version")).toEqual(["build"]);
    expect(out).toMatch(/packages: in step[\s\S]*browser: .*chromium[\s\S]*PostgreSQL in .*15[\s\S]*ready/);
  });

  it("does not look for the programs of the tests for the demo", () => {
    rmSync(path("root"), { recursive: true });
    expect(setUp("demo")).toMatchObject({ status: 0 });
  });
});

describe("packages", () => {
  it.each([
    ["node_modules is missing", () => rmSync(path("project/node_modules"), { recursive: true })],
    [
      "a package has another version",
      () => write("project/node_modules/.package-lock.json", installed("0.9.0")),
    ],
    ["a package is missing", () => write("project/node_modules/.package-lock.json", '{"packages": {}}')],
    ["an install was cut off", () => write("project/node_modules/.package-lock.json", "{")],
  ])("are installed from the lockfile when %s", (_, change) => {
    change();
    expect(setUp("demo")).toMatchObject({ status: 0 });
    expect(calls()[0]).toBe("npm ci --no-audit --no-fund");
  });

  it("stop everything with npm's own words when they cannot be installed", () => {
    rmSync(path("project/node_modules"), { recursive: true });
    program("npm", "echo no network >&2; exit 1");
    const { status, err } = setUp("demo");
    expect(status).toBe(1);
    expect(err).toContain("no network");
    expect(err).toContain("npm ci --no-audit --no-fund: ended with 1");
    expect(calls()).not.toContain("build");
  });
});

describe("the build", () => {
  it("stops everything when it fails", () => {
    write("project/mcp-server/build.mjs", "process.exit(3);");
    const { status, err } = setUp("demo");
    expect(status).toBe(1);
    expect(err).toContain("build.mjs: ended with 3");
  });
});

describe("the browser", () => {
  beforeEach(() => rmSync(path("bin/chromium")));

  it.each(["google-chrome", "microsoft-edge", "chromium-browser"])("may be %s", (name) => {
    program(name, "echo Google Chrome 1 or Microsoft Edge 1");
    expect(setUp("demo")).toMatchObject({ status: 0, out: expect.stringContaining(name) });
  });

  it("is not a program that only says how to install one", () => {
    program("chromium-browser", "echo 'requires the chromium snap'; exit 1");
    program("google-chrome", "echo Google Chrome 1");
    expect(setUp("demo").out).toContain(`browser: ${path("bin/google-chrome")}`);
  });

  it("is installed by apt for root, after an update, and otherwise named with the commands", () => {
    program(
      "apt-get",
      `case "$*" in *install*) cp ${path("bin/apt-get")} ${path("bin/chromium")}; printf '#!/bin/sh\\necho Chromium 9\\n' > ${path("bin/chromium")};; esac`,
    );
    const { status, out, err } = setUp("demo");
    const apt = calls().filter((call) => call.startsWith("apt-get"));
    if (isRoot) {
      expect(status).toBe(0);
      expect(apt).toEqual([
        "apt-get -o DPkg::Lock::Timeout=120 update",
        "apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends chromium",
      ]);
      expect(out).toContain("browser: ");
    } else {
      expect(apt).toEqual([]);
      expect(status).toBe(1);
      expect(err).toContain("npx playwright-core install chromium");
    }
  });

  it("is asked of Playwright when apt cannot, and its absence ends with what to run", () => {
    program("apt-get", "exit 100");
    write("project/node_modules/playwright-core/package.json", "{}");
    write(
      "project/node_modules/playwright-core/cli.js",
      `require("node:fs").appendFileSync(${JSON.stringify(path("calls"))}, "playwright " + process.argv.slice(2).join(" ") + "\\n"); process.exit(1);`,
    );
    const { status, err } = setUp("demo");
    expect(status).toBe(1);
    expect(calls().find((call) => call.startsWith("playwright"))).toMatch(
      /^playwright install (--with-deps )?chromium$/,
    );
    expect(err).toContain("sudo apt-get update && sudo apt-get install -y chromium");
  });

  it("may be Playwright's own", () => {
    program("own-build", "echo Chromium 5");
    write(
      "project/node_modules/playwright-core/index.js",
      `exports.chromium = { executablePath: () => ${JSON.stringify(path("bin/own-build"))} };`,
    );
    expect(setUp("demo")).toMatchObject({ status: 0, out: expect.stringContaining("own-build") });
  });
});

describe("in an installed package", () => {
  it("only the browser is looked for, and what belongs to a checkout is refused with the command that works", () => {
    rmSync(path("project/mcp-server/build.mjs"));
    rmSync(path("project/package-lock.json"));
    const { status, out } = setUp("demo");
    expect({ status, calls: calls() }).toEqual({ status: 0, calls: ["chromium --version"] });
    expect(out).toContain("browser: ");
    expect(setUp("test")).toMatchObject({ status: 1, err: expect.stringContaining("labwright setup") });
  });
});

describe("the programs of the tests", () => {
  const install = (then: string) =>
    program(
      "apt-get",
      `case "$*" in *install*) cp ${path("root/etc/postgresql-common/createcluster.d/labwright.conf")} ${path("seen")} 2>/dev/null; ${then};; esac`,
    );

  it("are installed without Debian's cluster, and leave no setting behind", () => {
    rmSync(path("root/usr/lib"), { recursive: true });
    install(
      `mkdir -p ${path("root/usr/lib/postgresql/15/bin")}; cp ${path("bin/flock")} ${path("root/usr/lib/postgresql/15/bin/initdb")}`,
    );
    const { status, out } = setUp("test");
    expect(status).toBe(0);
    if (isRoot) {
      expect(calls().at(-1)).toContain("install -y --no-install-recommends postgresql");
      expect(readFileSync(path("seen"), "utf8")).toBe("create_main_cluster = false\n");
      expect(existsSync(path("root/etc/postgresql-common/createcluster.d/labwright.conf"))).toBe(false);
      expect(out).toContain("PostgreSQL in");
    } else {
      expect(out).toContain("sudo apt-get install -y postgresql");
    }
  });

  it("bring the sandbox of scripts", () => {
    rmSync(path("bin/bwrap"));
    program("apt-get", `case "$*" in *install*) cp ${path("bin/flock")} ${path("bin/bwrap")};; esac`);
    const { status, out } = setUp("test");
    expect(status).toBe(0);
    if (isRoot) expect(calls().at(-1)).toContain("install -y --no-install-recommends bubblewrap");
    expect(out).toContain(isRoot ? "util-linux, bubblewrap" : "sudo apt-get install -y bubblewrap");
  });

  it("bring a set-top box with its channels, in one call of apt", () => {
    for (const name of ["kodi", "Xvfb", "irsend"]) rmSync(path("bin", name));
    rmSync(path("root/usr/share/kodi"), { recursive: true });
    const there = ["kodi", "Xvfb", "irsend"].map((name) => `cp ${path("bin/flock")} ${path("bin", name)}`);
    const addon = path("root/usr/share/kodi/addons/pvr.iptvsimple");
    install([...there, `mkdir -p ${addon}`, `cp ${path("bin/flock")} ${addon}/addon.xml`].join("; "));
    const { status, out } = setUp("test");
    expect(status).toBe(0);
    const wanted = "kodi xvfb lirc kodi-pvr-iptvsimple";
    const installs = calls().filter((call) => call.includes(wanted));
    expect(installs.length).toBe(isRoot ? 1 : 0);
    if (!isRoot) expect(out).toContain(`sudo apt-get install -y ${wanted}`);
    rmSync(path("bin/kodi"), { force: true });
    program("apt-get", "exit 100");
    expect(setUp("test", { CI: "true" })).toMatchObject({
      status: 1,
      err: expect.stringContaining("The tests need kodi."),
    });
  });

  it("bring the shell of headless Chromium where apt knows it, and go on without it", () => {
    program("apt-get", "exit 100");
    const isAsked = () => calls().at(-1)?.endsWith("update") ?? false;
    program("apt-cache", "exit 100");
    expect([setUp("test").status, isAsked()]).toEqual([0, false]);
    program("apt-cache");
    expect([setUp("test").status, isAsked()]).toEqual([0, isRoot]);
  });

  it("stop a CI run when they cannot be had, and elsewhere are only named", () => {
    rmSync(path("root/usr/lib"), { recursive: true });
    rmSync(path("bin/setpriv"));
    const wanted = "sudo apt-get install -y postgresql util-linux";
    expect(setUp("test")).toMatchObject({ status: 0, out: expect.stringContaining(wanted) });
    expect(setUp("test", { CI: "true" })).toMatchObject({ status: 1, err: expect.stringContaining(wanted) });
  });
});

describe("add-ons", () => {
  const labwrights = () => calls().filter((call) => call.startsWith("labwright"));

  beforeEach(() => {
    write(
      "project/mcp-server/bin/labwright.js",
      `require("node:fs").appendFileSync(${JSON.stringify(path("calls"))}, "labwright " + process.argv.slice(2).join(" ") + "\\n");`,
    );
    write("project/controllers/addons/README.md", "");
    for (const [name, part] of [
      ["bulb", "light"],
      ["candle", "light"],
      ["oven", "heat"],
    ])
      write(`project/controllers/addons/${name}/package.json`, JSON.stringify({ labwright: { part } }));
  });

  it("are none for the demo, and those of the parts that are named", () => {
    expect(setUp("demo")).toMatchObject({ status: 0 });
    expect(labwrights()).toEqual([]);
    expect(setUp("demo", {}, ["--with", "light,heat"])).toMatchObject({ status: 0 });
    expect(labwrights()).toEqual(["labwright setup light heat"]);
  });

  it("are all for the tests, in the project", () => {
    expect(setUp("test")).toMatchObject({ status: 0 });
    expect(labwrights()).toEqual([`labwright setup light heat --data-dir ${path("project/.setup")}`]);
  });

  it("stop the set-up when they cannot be installed", () => {
    write("project/mcp-server/bin/labwright.js", "process.exit(2);");
    expect(setUp("demo", {}, ["--with", "tv"])).toMatchObject({
      status: 1,
      err: expect.stringContaining("setup tv: ended with 2"),
    });
  });
});

it("says what it can be asked for", () => {
  expect(setUp("production")).toMatchObject({ status: 1, err: expect.stringContaining("--for demo|test") });
});

it("imports nothing that has to be installed", () => {
  const imports = [...readFileSync(script, "utf8").matchAll(/^import .* from "([^"]+)";$/gm)].map(
    (match) => match[1],
  );
  expect(imports.length).toBeGreaterThan(0);
  for (const name of imports) expect(name).toMatch(/^node:/);
});

it("is what CI runs, and nothing else", () => {
  const lines = readFileSync(".ci/run", "utf8").trim().split("\n");
  expect(lines[0]).toBe("#!/usr/bin/env bash");
  expect(lines).toContain("set -euo pipefail");
  expect(lines.at(-1)).toBe("npm test");
});
