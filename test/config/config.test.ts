import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configFile, dataDirectory, defaultDataDirectory } from "#mcp-server/config/places.ts";
import { trustFolder } from "#mcp-server/config/trust.ts";
import { type Environment, loadConfig, machineName } from "#mcp-server/config.ts";
import { openConfigFolder, problemsOf } from "./loading.ts";

const { file, folder, load } = openConfigFolder();

describe("defaults", () => {
  it("gives one device `browser` of model web when there is no file", () => {
    const config = loadConfig({ command: "mcp", cwd: folder, env: { HOME: folder } });
    expect(config.file).toBeUndefined();
    expect(config.devices).toEqual([{ name: "browser", model: "web", drivers: ["web"], controllers: {} }]);
    expect(config.server).toMatchObject({ host: "127.0.0.1" });
    expect(config.server.port).toBeUndefined();
    expect(config.server.name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
    expect(config.limits).toMatchObject({
      lease_ms: 300_000,
      idle_exit_ms: 600_000,
      position_stale_ms: 30_000,
    });
    expect(config.unsafe).toEqual({
      ...{ javascript: false, device_shell: false, unsandboxed_scripts: false, script_needs: [] },
    });
    expect(config.is_default_data_dir).toBe(true);
    expect(config.folders.uploads).toBe(join(folder, ".local/share/labwright/uploads"));
  });

  it("takes an empty file and one of comments for no settings at all", () => {
    for (const text of ["", "# nothing here\n", "---\n"]) {
      expect(load(text).devices.map(({ name }) => name)).toEqual(["browser"]);
    }
  });

  it("remembers which file it read and its hash", () => {
    const first = load("server: {name: lab}\n");
    expect(first.file?.path).toBe(file);
    expect(load("server: {name: lab}\n").file).toEqual(first.file);
    expect(load("server: {name: lab2}\n").file?.sha256).not.toBe(first.file?.sha256);
  });
});

describe("errors", () => {
  it("names every problem at once, each with file, line and column", () => {
    const { problems, message } = problemsOf(() =>
      load(
        "server:\n  porrt: 80\nlimits:\n  lease_ms: soon\ndevicez: []\nurl_policy:\n  deny: ['ht tp://x']\n",
      ),
    );
    expect(problems.map(({ line, column, path }) => [line, column, path])).toEqual(
      expect.arrayContaining([
        [2, 3, "server"],
        [4, 13, "limits.lease_ms"],
        [5, 1, ""],
        [7, 10, "url_policy.deny[0]"],
      ]),
    );
    expect(problems).toHaveLength(4);
    expect(message).toContain(`${file}:2:3: server: unknown key "porrt"; did you mean "port"?`);
    expect(message).toContain(`${file}:5:1: unknown key "devicez"; did you mean "devices"?`);
  });

  it("offers the nearest key inside a device's controller settings", () => {
    const { problems } = problemsOf(() =>
      load("devices:\n  - name: a\n    controllers:\n      web:\n        headles: true\n"),
    );
    expect(problems).toMatchObject([
      {
        line: 5,
        column: 9,
        path: "devices[0].controllers.web",
        message: expect.stringContaining('did you mean "headless"?'),
      },
    ]);
  });

  it("points at the parent of something that is missing", () => {
    const { problems } = problemsOf(() => load("server:\n  tls:\n    cert: a.pem\n"));
    expect(problems).toMatchObject([{ line: 3, path: "server.tls.key" }]);
  });

  it("says where the YAML itself is broken, and about a key given twice", () => {
    expect(problemsOf(() => load("server: {name: [\n")).problems[0]?.line).toBeGreaterThan(0);
    expect(problemsOf(() => load("limits: {}\nlimits: {}\n")).problems).toMatchObject([
      { line: 2, column: 1 },
    ]);
  });

  it("refuses a file whose aliases grow without end", () => {
    const bomb = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"];
    for (let i = 1; i < 9; i++) bomb.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(10)}]`);
    expect(problemsOf(() => load(bomb.join("\n"))).message).toMatch(/alias/i);
  });

  it("refuses a list where the settings should be", () => {
    expect(problemsOf(() => load("- a\n")).problems).toMatchObject([{ line: 1, column: 1 }]);
  });

  it("refuses a named file that cannot be read", () => {
    const named = join(folder, "missing.yaml");
    const { problems } = problemsOf(() => load("", { options: { config: named } }));
    expect(problems).toMatchObject([{ file: named, message: expect.stringContaining("cannot be read") }]);
  });

  it("refuses a secret that says both or neither of env and file", () => {
    expect(problemsOf(() => load("secrets:\n  A: {}\n")).problems).toMatchObject([
      { line: 2, path: "secrets.A" },
    ]);
    expect(problemsOf(() => load("secrets: {A: {env: X, file: y}}\n")).problems).toHaveLength(1);
  });
});

describe("exposure", () => {
  it("refuses to be reached from other machines without a certificate or a named proxy", () => {
    for (const host of ["0.0.0.0", "::", "192.168.1.4", "lab.example"]) {
      const { message } = problemsOf(() => load(`server: {host: "${host}"}\n`));
      expect(message).toContain("server.tls {cert, key} or server.trusted_proxy");
    }
    expect(problemsOf(() => load("", { env: { LABWRIGHT_HOST: "0.0.0.0" } })).message).toContain("0.0.0.0");
  });

  it("accepts loopback as it is, and other addresses behind TLS or a proxy", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
      expect(load(`server: {host: "${host}"}\n`).server.host).toBe(host);
    }
    expect(load("server: {host: 0.0.0.0, trusted_proxy: edge}\n").server.trusted_proxy).toBe("edge");
    const { tls } = load("server: {host: 0.0.0.0, tls: {cert: c.pem, key: /k.pem}}\n").server;
    expect(tls).toEqual({ cert: join(folder, "c.pem"), key: "/k.pem" });
  });
});

describe("environment", () => {
  it("wins over the file, and options win over it", () => {
    const yaml = "server: {port: 1000}\n";
    expect(load(yaml).server.port).toBe(1000);
    expect(load(yaml, { env: { LABWRIGHT_PORT: "2000" } }).server.port).toBe(2000);
    expect(load(yaml, { env: { LABWRIGHT_PORT: "2000" }, options: { port: 3000 } }).server.port).toBe(3000);
  });

  it("takes an empty variable for one that is not set", () => {
    expect(load("server: {port: 1000}\n", { env: { LABWRIGHT_PORT: "" } }).server.port).toBe(1000);
  });

  it("refuses an unknown LABWRIGHT_ variable with the nearest name, and bad values", () => {
    const { problems } = problemsOf(() =>
      load("", {
        env: {
          LABWRIGHT_PROT: "1",
          LABWRIGHT_PORT: "70000",
          LABWRIGHT_TOKEN: "short",
          DATABASE_URL: "mysql://x",
        },
      }),
    );
    expect(problems.map(({ path }) => path).sort()).toEqual([
      "DATABASE_URL",
      "LABWRIGHT_PORT",
      "LABWRIGHT_PROT",
      "LABWRIGHT_TOKEN",
    ]);
    expect(problems.find(({ path }) => path === "LABWRIGHT_PROT")?.message).toContain("LABWRIGHT_PORT");
  });

  it("refuses a key that nothing is encrypted with", () => {
    const { problems } = problemsOf(() => load("", { env: { LABWRIGHT_ENCRYPTION_KEY: "0".repeat(64) } }));
    expect(problems).toMatchObject([
      { path: "LABWRIGHT_ENCRYPTION_KEY", message: expect.stringContaining("unset it") },
    ]);
  });

  it("accepts the bridge's variables and secrets by name, and leaves other programs' variables alone", () => {
    const env = {
      LABWRIGHT_SKILLS: "a,b",
      LABWRIGHT_READ_ONLY: "1",
      LABWRIGHT_SECRET_ANY: "value",
      LABW: "x",
    };
    expect(load("", { env }).devices).toHaveLength(1);
  });

  it("refuses a log level that does not exist", () => {
    expect(problemsOf(() => load("", { options: { log_level: "loud" } })).problems).toMatchObject([
      { path: "log_level" },
    ]);
  });
});

describe("labwright.yaml of the working directory", () => {
  const device = (driver: string, settings: string) =>
    `devices: [{ name: a, controllers: { ${driver}: { ${settings} } } }]`;
  const read = (yaml: string) => {
    writeFileSync(file, yaml);
    return loadConfig({ command: "run", cwd: folder, env: { LABWRIGHT_DATA_DIR: join(folder, "data") } });
  };

  it.each([
    ["secrets: { A: { file: /etc/passwd } }", "secrets"],
    ["agents: { api: {} }", "agents"],
    ["server: { host: localhost }", "server"],
    ["folders: { uploads: / }", "folders"],
    ["url_policy: { allow: ['http://*'] }", "url_policy"],
    ["unsafe: { javascript: true }", "unsafe"],
    ["limits: { audit_days: 1, artifact_days: 1 }", "limits.audit_days, limits.artifact_days"],
    ["web_server: { command: make, url: 'http://localhost:1/' }", "web_server"],
    [device("web", "executable_path: ./run"), "devices[0].controllers.web.executable_path"],
    [device("web", "cdp: 'http://a'"), "devices[0].controllers.web.cdp"],
    [device("web", "connect: 'ws://a'"), "devices[0].controllers.web.connect"],
    [device("web", "sandbox: false"), "devices[0].controllers.web.sandbox"],
    [device("web", "storage_state: shop"), "devices[0].controllers.web.storage_state"],
    [device("android", "chromedriver: ./run"), "devices[0].controllers.android.chromedriver"],
    [
      device("appium", "url: 'http://a', capabilities: {}"),
      "devices[0].controllers.appium.url, devices[0].controllers.appium.capabilities",
    ],
  ])("needs the trust of a person for %s", (yaml, path) => {
    expect(() => read(yaml)).toThrow(`sets ${path}, and its folder is not trusted`);
  });

  it("names hosts of secrets only as it was when its folder was trusted", () => {
    const staging = (more = "") => `
environments:
  staging:
    urls: ["https://shop.test/app/*", "*.shop.test", "10.0.0.5:8080", "fd00::/8", "*", "http*://*:*/x", "0.0.0.0/0"]
    variables: { start: "https://api.test:8443/v1?x=1", word: shop.example, count: 3${more} }`;
    const named = ["*.shop.test", "10.0.0.5:8080", "fd00::/8", "https://api.test:8443", "https://shop.test"];
    expect(read(staging()).secret_hosts).toEqual([]);
    const data = join(folder, "data");
    expect(trustFolder(folder, data)).toEqual(named.map((host) => `secrets at ${host}`));
    expect(read(staging(", b: 2")).secret_hosts).toEqual(named);
    expect(read(staging(", b: 'http://evil.test'")).secret_hosts).toEqual([]);
    const server = "web_server: { command: make, url: 'http://app.test/x' }";
    expect(() => read(`${staging()}\n${server}`)).toThrow("web_server, which changed");
    trustFolder(folder, data);
    expect(read(`${staging()}\n${server}`).secret_hosts).toEqual([...named, "http://app.test"]);
    // Nobody is asked about hosts alone.
    expect(read(server).secret_hosts).toEqual(["http://app.test"]);
    const config = loadConfig({ command: "run", options: { config: file }, cwd: folder, env: {} });
    expect(config.secret_hosts).toEqual(["http://app.test"]);
  });

  it("needs none for devices, their models, environments, limits and the matrix", () => {
    const { devices, limits } = read(`
devices: [{ name: a, watch: true, controllers: { web: { browser: firefox, headless: false, viewport: { width: 800 } }, image: {}, text: { languages: [fra] } } }]
models: [{ name: kiosk, drivers: [web] }]
environments: { staging: { variables: { url: "http://x" } } }
limits: { lease_ms: 1000 }
matrix: [chrome]`);
    expect(devices).toMatchObject([{ name: "a" }]);
    expect(limits.lease_ms).toBe(1_000);
  });
});

describe("places", () => {
  const env = { LABWRIGHT_DATA_DIR: folder };
  const find = (command: string, option?: string, more: Environment = {}) =>
    configFile({ command, option, env: { ...env, ...more }, cwd: join(folder, "work"), dataDir: folder });

  it("prefers the option, then LABWRIGHT_CONFIG, then the data directory", () => {
    writeFileSync(file, "");
    expect(find("mcp", "/x/a.yaml", { LABWRIGHT_CONFIG: "/x/b.yaml" })).toBe("/x/a.yaml");
    expect(find("mcp", undefined, { LABWRIGHT_CONFIG: "/x/b.yaml" })).toBe("/x/b.yaml");
    expect(find("mcp")).toBe(file);
  });

  it("looks into the working directory for serve and run, and never for mcp", () => {
    writeFileSync(file, "");
    const here = (command: string) =>
      configFile({ command, env: {}, cwd: folder, dataDir: join(folder, "none") });
    expect(here("serve")).toBe(file);
    expect(here("run")).toBe(file);
    expect(here("mcp")).toBeUndefined();
    expect(here("status")).toBeUndefined();
  });

  it("keeps data where each system keeps it", () => {
    const home = { HOME: "/h", LOCALAPPDATA: "/l" };
    expect(defaultDataDirectory(home, "linux")).toBe("/h/.local/share/labwright");
    expect(defaultDataDirectory({ ...home, XDG_DATA_HOME: "/d" }, "linux")).toBe("/d/labwright");
    expect(defaultDataDirectory({ ...home, XDG_DATA_HOME: "rel" }, "linux")).toBe(
      "/h/.local/share/labwright",
    );
    expect(defaultDataDirectory(home, "darwin")).toBe("/h/Library/Application Support/labwright");
    expect(defaultDataDirectory(home, "win32")).toBe("/l/labwright");
    expect(dataDirectory({ ...home, LABWRIGHT_DATA_DIR: "/own" })).toEqual({
      path: "/own",
      isDefault: false,
    });
  });

  it("resolves files named in the configuration from its folder", () => {
    const config = load(
      "folders: {uploads: up, artifacts: /a}\nsecrets: {K: {file: key.txt}, E: {env: X}}\n",
    );
    expect(config.folders).toMatchObject({ uploads: join(folder, "up"), artifacts: "/a" });
    expect(config.folders.scripts).toBe(join(folder, "data/scripts"));
    expect(config.secrets).toEqual({ K: { file: join(folder, "key.txt") }, E: { env: "X" } });
  });
});

it.each([
  ["Anna's MacBook.local", "anna-s-macbook-local"],
  ["ABC_1", "abc-1"],
  ["---", "host"],
  [`${"x".repeat(62)}-y`, "x".repeat(62)],
])("cleans the machine name %s to %s", (given, clean) => {
  expect(machineName(given)).toBe(clean);
});

it("does not read the file again after it was loaded", () => {
  const config = load("server: {name: lab}\n");
  writeFileSync(file, "server: {name: other}\n");
  expect(config.server.name).toBe("lab");
  expect(readFileSync(file, "utf8")).toContain("other");
});

describe("the page on devices and settings", () => {
  const text = readFileSync(new URL("../../docs/devices.md", import.meta.url), "utf8");
  const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => yaml);

  it("has an example of devices", () => {
    expect(examples.join("\n")).toContain("devices:");
  });

  it.each(examples)("has an example that can be read: %#", (yaml) => {
    expect(load(yaml, { env: { SHOP_PASSWORD: "secret" } }).devices.length).toBeGreaterThan(0);
  });
});
