import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { productServe } from "../../fixtures/daemon.ts";
import { listenOnLoopback } from "../../fixtures/loopback.ts";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const page = '<!doctype html><title>The shop</title><h1>Welcome in</h1><a href="/cart">Cart</a>';
const cart = "<!doctype html><title>Cart</title><h1>Your cart</h1>";
const server = createServer((request, response) => {
  response.setHeader("content-type", "text/html").end(request.url === "/cart" ? cart : page);
});
const data = temporaryFolder();
let folder: ReturnType<typeof temporaryFolder>;
let url: string;
beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
});
afterAll(async () => {
  await labwright("stop");
  server.close();
  folder.remove();
  data.remove();
});
beforeEach(() => {
  folder?.remove();
  folder = temporaryFolder();
});

const labwright = (...args: string[]) =>
  run(args, { env: { LABWRIGHT_DATA_DIR: data.path }, cwd: folder?.path ?? data.path });

function write(name: string, text: string): void {
  const file = join(folder.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const read = (name: string) => readFileSync(join(folder.path, name), "utf8");

it("init writes an app and a test of the page, which passes, and never writes over a file", async () => {
  expect(await labwright("init", url)).toMatchObject({ code: 0, err: "" });
  const name = `127.0.0.1-${new URL(url).port}`;
  expect(parse(read(`labwright/apps/${name}.yaml`))).toMatchObject({
    name,
    app: { url },
    nodes: { Home: 'check text "Welcome in"' },
  });
  // A second app leaves the first as it is, and both run.
  const other = url.replace("127.0.0.1", "localhost");
  const before = read(`labwright/apps/${name}.yaml`);
  expect(await labwright("init", other)).toMatchObject({ code: 0, err: "" });
  expect(read(`labwright/apps/${name}.yaml`)).toBe(before);
  const ran = await labwright("run", "labwright");
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("2 runs: 2 passed\n") });
  expect(ran.out).toContain(`passed     ${name} opens`);
  write(`labwright/apps/${name}.yaml`, "mine");
  expect(await labwright("init", url)).toMatchObject({ code: 2, err: expect.stringContaining("already") });
  expect(read(`labwright/apps/${name}.yaml`)).toBe("mine");
});

it("init without an address asks in a terminal; elsewhere, or without an answer, it says what to give", async () => {
  const said = { code: 2, out: "", err: expect.stringContaining("labwright init http://localhost:3000") };
  expect(await labwright("init")).toMatchObject(said);
  const answering = (answer: string | undefined) =>
    run(["init"], {
      env: { LABWRIGHT_DATA_DIR: data.path },
      cwd: folder.path,
      ask: async () => answer,
    });
  expect(await answering("")).toMatchObject(said);
  expect(await answering(undefined)).toMatchObject(said);
  expect(existsSync(join(folder.path, "labwright"))).toBe(false);
  expect(await answering(url)).toMatchObject({ code: 0, err: "" });
});

it("init of a page that does not open, or of no address, writes nothing", async () => {
  expect(await labwright("init", "http://127.0.0.1:9/")).toMatchObject({ code: 2, out: "" });
  expect(await labwright("init", "ftp://x")).toMatchObject({
    code: 2,
    err: expect.stringContaining("not the address of a page"),
  });
  expect(existsSync(join(folder.path, "labwright"))).toBe(false);
});

const app = () =>
  `name: mall\napp: { url: "${url}" }\nnodes:\n  Home: check text "Welcome in"\n  Cart: check text "Your cart"\nedges:\n  Home -> Cart: click "Cart"\n`;

it("run takes a folder: apps first, tests that call tests of other files, and leaves out what needs inputs", async () => {
  write("labwright/apps/mall.yaml", app());
  write(
    "labwright/tests/a.yaml",
    "name: a\napp: mall\nsteps:\n  - call: { testcase: open, inputs: { node: Cart } }\n",
  );
  write(
    "labwright/tests/open.yaml",
    'name: open\napp: mall\ninputs: [{ name: node, required: true }]\nsteps:\n  - go: "{{node}}"\n',
  );
  const ran = await labwright("run", "labwright");
  expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^passed +a .*1 run: 1 passed/s) });
  expect(ran.err).toContain("open (node)");
  expect(await labwright("run", "labwright/tests/open.yaml", "--input", "node=Home")).toMatchObject({
    code: 0,
  });
});

it("names the file, line and column of what is wrong, and an empty or missing folder", async () => {
  write("labwright/apps/mall.yaml", app());
  write("labwright/tests/b.yaml", 'name: b\napp: mall\nsteps:\n  - go to Home\n  - clik "Cart"\n');
  const ran = await labwright("run", "labwright");
  expect(ran).toMatchObject({ code: 2, out: "" });
  expect(ran.err).toMatch(/b\.yaml.*5/s);
  mkdirSync(join(folder.path, "empty"));
  expect(await labwright("run", "empty")).toMatchObject({
    code: 2,
    err: expect.stringContaining("no YAML or feature file"),
  });
  expect(await labwright("import", "nowhere")).toMatchObject({
    code: 2,
    err: expect.stringContaining("no such file"),
  });
});

it("import saves and counts; export gives what import takes, and replaces no file unasked", async () => {
  write("labwright/mall.yaml", `${app()}tests:\n  - name: opens\n    steps: [go to Cart]\n`);
  expect(await labwright("import", "labwright")).toMatchObject({
    code: 0,
    out: "labwright/mall.yaml: app mall, 1 test\n",
  });
  expect(await labwright("export", "mall", "--out", "out/mall.yaml")).toMatchObject({ code: 0 });
  expect(parse(read("out/mall.yaml"))).toMatchObject({ edges: { "Home -> Cart": 'click "Cart"' } });
  expect(await labwright("export", "mall", "--out", "out/mall.yaml")).toMatchObject({ code: 2 });
  expect(await labwright("run", "out/mall.yaml", "--grep", "opens")).toMatchObject({
    code: 2,
    err: expect.stringContaining('the app "mall" is in labwright/mall.yaml too'),
  });
  rmSync(join(folder.path, "labwright/mall.yaml"));
  expect(await labwright("run", "out/mall.yaml", "--grep", "opens")).toMatchObject({ code: 0 });
});

it("run without a name runs the tests of the project that it is called in, and no other's of the same names", async () => {
  write("one/labwright/apps/mall.yaml", app());
  write("one/labwright/tests/opens.yaml", "app: mall\nsteps: [go to Cart]\n");
  write("two/labwright/apps/mall.yaml", app().replace("Your cart", "Your basket"));
  write("two/labwright/tests/opens.yaml", "app: mall\nsteps: [go to Cart]\n");
  const at = (project: string, ...args: string[]) =>
    run(args, { env: { LABWRIGHT_DATA_DIR: data.path }, cwd: join(folder.path, project) });
  const passed = { code: 0, out: expect.stringMatching(/^passed +opens .*1 run: 1 passed/s) };
  expect(await at("one/labwright", "run")).toMatchObject(passed);
  expect(await at("two", "run")).toMatchObject({ code: 1, out: expect.stringContaining("Your basket") });
  // The second run of one project is not a rerun of the other's.
  expect(await at("one", "run", "opens")).toMatchObject(passed);
  expect(await labwright("run", "opens")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/projects have a test case "opens"/),
  });
  const saved = JSON.stringify({ userinterface_name: "mall", label: "Sale", verifications: [] });
  expect(await at("two", "call", "create_node", "--json", saved)).toMatchObject({ code: 0 });
  expect(read("two/labwright/apps/mall.yaml")).toContain("  Sale:");
  expect(read("one/labwright/apps/mall.yaml")).not.toContain("Sale");
});

it("run says which files changed meanwhile, and takes what a folder holds no more from its tests", async () => {
  write("labwright/apps/mall.yaml", app());
  const test = "app: mall\nsteps: [go to Cart]\n";
  write("labwright/tests/stays.yaml", test);
  write("labwright/tests/goes.yaml", test);
  const running = labwright("run", "--slow", "1500");
  const isRunning = async () =>
    expect(
      (await labwright("call", "get_execution_results", "--json", '{"status":"running"}')).out,
    ).toContain("goes");
  await vi.waitFor(isRunning, { timeout: 60_000, interval: 200 });
  write("labwright/tests/stays.yaml", `# Another word.\n${test}`);
  const ran = await running;
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("2 runs: 2 passed") });
  expect(ran.err).toContain(
    "changed during the run, so the verdicts are of what was there before: labwright/tests/stays.yaml",
  );
  rmSync(join(folder.path, "labwright/tests/goes.yaml"));
  const after = await labwright("run");
  expect(after).toMatchObject({ code: 0, out: expect.stringContaining("1 run: 1 passed") });
  expect(after.err).toContain("archived, since no file has them any more: goes");
});

it("a save into a project on a read-only disk is refused, and nothing is saved", async () => {
  write("labwright/apps/mall.yaml", app());
  expect(await labwright("import", "labwright")).toMatchObject({ code: 0 });
  await labwright("stop");
  const change = JSON.stringify({ userinterface_name: "mall", node: "Cart", label: "Basket" });
  const [program = ""] = productServe;
  const call = [process.execPath, program, "call", "update_node", "--json", change];
  const readOnly = `mount --bind ${folder.path} ${folder.path} && mount -o remount,bind,ro ${folder.path}`;
  // The daemon that the call starts lives where the project is read-only.
  const ended = spawnSync(
    "unshare",
    ["-rm", "sh", "-c", `${readOnly} && cd ${folder.path} && exec "$@"`, "sh", ...call],
    {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: data.path, LABWRIGHT_DATA_DIR: data.path },
    },
  );
  await labwright("stop");
  expect(ended).toMatchObject({ status: 2, stdout: "" });
  expect(ended.stderr).toMatch(
    /labwright\/apps\/mall\.yaml of .* cannot be written, so nothing was saved: .*read-only/,
  );
  expect(read("labwright/apps/mall.yaml")).toBe(app());
  const cart = JSON.stringify({ userinterface_name: "mall", node: "Cart" });
  expect(await labwright("call", "get_node", "--json", cart)).toMatchObject({ code: 0 });
});
