import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const data = temporaryFolder();
const folder = temporaryFolder();
afterAll(async () => {
  await labwright("stop");
  folder.remove();
  data.remove();
});
beforeEach(() => rmSync(join(folder.path, "labwright"), { recursive: true, force: true }));

const labwright = (...args: string[]) =>
  run(args, { env: { LABWRIGHT_DATA_DIR: data.path }, cwd: folder.path });
function write(name: string, ...lines: string[]): void {
  const file = join(folder.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join("\n")}\n`);
}
const app = (...more: string[]) =>
  write(
    "labwright/apps/mall.yaml",
    ...["name: mall", 'app: { url: "http://mall.test/" }', "nodes:", '  Home: check text "Welcome"'],
    ...more,
  );
const test = (name: string, ...steps: string[]) =>
  write(
    `labwright/tests/${name}.yaml`,
    `name: ${name}`,
    "app: mall",
    "steps:",
    ...steps.map((step) => `  - ${step}`),
  );

it("correct files are reported as such, together and before anything is saved", async () => {
  app('  Cart: check text "Your cart"', "edges:", '  Home -> Cart: click "Cart"');
  test("whole", "call: { testcase: part, inputs: {} }", 'check text "x"');
  test("part", "go to Cart");
  expect(await labwright("lint")).toEqual({
    code: 0,
    out: "3 files with 1 app and 2 tests: nothing is wrong\n",
    err: "",
  });
  expect(await labwright("list", "tests")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^No tests yet/),
  });
  expect(await labwright("list", "apps")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^No apps yet/),
  });
});

it("says everything that is wrong in all files at once, with file, line, column and what is nearest", async () => {
  app();
  test("lost", "go to Hime", 'clik "Buy"', 'check text "x"');
  test("empty", 'click "Buy"');
  test("calls", "call: { testcase: emty, inputs: {} }", 'check text "x"');
  write("labwright/tests/other.yaml", "name: lost", "app: mall", "steps: [go to Home]");
  write("labwright/tests/torn.yaml", "name: [");
  const { code, out } = await labwright("lint", "labwright");
  expect(code).toBe(2);
  expect(out).toMatch(/^labwright\/tests\/lost\.yaml:4:5: error: .*Hime.*Home/m);
  expect(out).toMatch(/^labwright\/tests\/lost\.yaml:5:5: error: .*clik/m);
  expect(out).toMatch(/^labwright\/tests\/empty\.yaml:\d+:\d+: error: .*check/m);
  expect(out).toMatch(/^labwright\/tests\/calls\.yaml:4:5: error: .*emty.*empty/m);
  expect(out).toMatch(
    /^labwright\/tests\/other\.yaml:1:\d+: error: there is another test "lost" in .*lost\.yaml/m,
  );
  expect(out).toMatch(/^labwright\/tests\/torn\.yaml:\d+:\d+: error: /m);
  expect(out).toMatch(/^6 files with 1 app and 4 tests: \d+ errors$/m);
});

it("tests of an app that is wrong itself wait for it", async () => {
  app("  Cart: chek text", "edges: { Home -> Crat: 'click \"Cart\"' }");
  test("one", "go to Cart");
  const { code, out } = await labwright("lint");
  expect(code).toBe(2);
  expect(out).toMatch(/mall\.yaml:5:\d+: error: .*chek/);
  expect(out).not.toContain("tests/one.yaml");
  expect(out).toContain("1 test not checked");
});

it("what runs and proves nothing, or cannot be reached, is a warning", async () => {
  app("  Cart: []", '  Island: check text "Far"', "edges:", '  Home -> Cart: click "Cart"');
  test("one", "go to Home");
  const { code, out } = await labwright("lint");
  expect(code).toBe(0);
  expect(out).toMatch(/mall\.yaml:5:3: warning: "Cart" has no check/);
  expect(out).toMatch(/mall\.yaml:6:3: warning: .*no edges lead from the entry to "Island"/);
  expect(out).toMatch(/nothing is wrong, 2 warnings$/m);
});

it("labwright.yaml is checked with them, also where the server could not start with it", async () => {
  test("one", "go to Home");
  write("labwright.yaml", "devicez: []");
  const broken = await labwright("lint");
  expect(broken).toMatchObject({ code: 2 });
  expect(broken.out).toMatch(/^labwright\.yaml:1:1: error: unknown key "devicez"; did you mean "devices"\?/);
  expect(broken.out).toContain("Correct labwright.yaml first");
  rmSync(join(folder.path, "labwright.yaml"));
  expect(await labwright("lint", "nowhere")).toMatchObject({
    code: 2,
    err: expect.stringContaining("no such file"),
  });
});

it("a text that the last run found only within another word is a warning, until it is written anew", async () => {
  await labwright("stop");
  write("labwright.yaml", "devices: [{ name: box, model: simulated }]");
  write("labwright/apps/tv.yaml", "name: tv", "models: [simulated]", "entry: false", "nodes: { Home: null }");
  const part = (step: string) =>
    write("labwright/tests/part.yaml", "name: part", "app: tv", `steps: [${step}]`);
  part(`'check text "Welc"'`);
  expect((await labwright("lint")).out).toMatch(/nothing is wrong/);
  const ran = await labwright("run", "--device", "box", "--build", "7");
  expect([ran.code, ran.err]).toEqual([1, ""]);
  expect((await labwright("lint")).out).toMatch(
    /^labwright\/tests\/part\.yaml:3:\d+: warning: the last run found "Welc" only within another word or number: "Welcome home"/m,
  );
  part(`'check text contains "Welc"'`);
  expect((await labwright("lint")).out).not.toContain("warning: the last run");
  rmSync(join(folder.path, "labwright.yaml"));
});
