import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { listenOnLoopback } from "../../fixtures/loopback.ts";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const login = `<!doctype html><title>Sign in</title><form action="/home">
  <label>User <input name="user"></label>
  <label>Password <input type="password" name="password"></label>
  <label><input type="checkbox" name="stay"> Stay</label>
  <ul><li><button type="button">More</button></li><li><button type="button">More</button></li></ul>
  <button>Sign in</button></form>`;
let isBroken = false;
const server = createServer((request, response) => {
  const asked = new URL(request.url ?? "/", "http://shop");
  const isRight = asked.searchParams.get("password") === "s3cret" && !isBroken;
  const welcome = `<!doctype html><h1>${isRight ? `Welcome ${asked.searchParams.get("user")}` : "Wrong password"}</h1>`;
  response.setHeader("content-type", "text/html").end(asked.pathname === "/home" ? welcome : login);
});
const data = temporaryFolder();
let folder: ReturnType<typeof temporaryFolder>;
let url: string;
beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  writeFileSync(join(data.path, "password"), "s3cret", { mode: 0o600 });
  writeFileSync(join(data.path, "labwright.yaml"), "secrets: { PASSWORD: { file: password } }\n");
});
afterAll(async () => {
  await labwright("stop");
  server.close();
  folder.remove();
  data.remove();
});
afterEach(() => labwright("release"));
beforeEach(() => {
  folder?.remove();
  folder = temporaryFolder();
  isBroken = false;
});

const labwright = (...args: string[]) =>
  run(args, { env: { LABWRIGHT_DATA_DIR: data.path }, cwd: folder?.path ?? data.path });
const refOf = (screen: string, element: string) =>
  new RegExp(`(e\\d+)(?: \\w+)? "${element}"`).exec(screen)?.[1] ?? `no ref of ${element}`;
const kept = (file: string) => parse(readFileSync(join(folder.path, file), "utf8"));

async function signIn(): Promise<void> {
  const { out } = await labwright("do", "open", url);
  const [user, password, button] = ["User", "Password", "Sign in"].map((name) => refOf(out, name));
  const typed = await labwright(
    ...["do", "fill", user, "anna", "then", "fill", password, "{{secret.PASSWORD}}"].flatMap(
      (word) => word ?? [],
    ),
  );
  expect(typed).toMatchObject({ code: 0, err: "" });
  expect(await labwright("do", "click", button ?? "")).toMatchObject({ code: 0 });
}

it("what was done by refs runs tomorrow, passes on a fresh browser and fails where the page is broken", async () => {
  await labwright("take");
  await signIn();
  await labwright("look");
  expect(await labwright("check", "text", "Missing", "--timeout_ms", "2000")).toMatchObject({ code: 1 });
  expect(await labwright("check", "text", "Welcome anna", "then", "not", "text", "Wrong")).toMatchObject({
    code: 0,
  });
  const keep = await labwright("keep", "Sign in");
  expect(keep).toMatchObject({ code: 0, err: "" });
  expect(keep.out).toContain("labwright/tests/sign-in.yaml: 6 steps, 2 checks among them\n");
  expect(kept("labwright/tests/sign-in.yaml")).toEqual({
    name: "Sign in",
    steps: [
      `open ${url}`,
      expect.stringMatching(/^type "anna" into .*User/),
      expect.stringMatching(/^type "{{secret.PASSWORD}}" into .*Password/),
      expect.stringMatching(/^click .*Sign in/),
      'check text "Welcome anna"',
      'check text "Wrong" is not shown',
    ],
  });
  await labwright("release");
  expect(await labwright("lint")).toMatchObject({ code: 0, err: "" });
  expect(await labwright("run", "labwright/tests/sign-in.yaml")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^passed +Sign in/),
  });
  isBroken = true;
  expect(await labwright("run", "labwright/tests/sign-in.yaml")).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^failed +Sign in/),
  });
});

it("leaves out what failed, what was done again for it, and what only reads", async () => {
  const { out } = await labwright("do", "open", url);
  const stay = refOf(out, "Stay");
  const torn = await labwright("do", "tick", stay, "then", "click", "Nowhere", "--timeout_ms", "200");
  expect(torn).toMatchObject({ code: 1, err: expect.not.stringContaining("lasting") });
  await labwright("do", "tick", stay, "then", "click", "Sign in");
  await labwright("do", "text", "css=h1");
  await labwright("check", "text", "Wrong password");
  expect(await labwright("keep", "wrong")).toMatchObject({ code: 0 });
  expect(kept("labwright/tests/wrong.yaml").steps).toEqual([
    `open ${url}`,
    `tick 'role=checkbox[name="Stay"]'`,
    'click "Sign in"',
    'check text "Wrong password"',
  ]);
});

it("is refused where it would be no test, and writes nothing", async () => {
  const refused = async (message: string, ...args: string[]) =>
    expect(await labwright("keep", ...args)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(message),
    });
  await refused("nothing to keep", "x");
  const { out } = await labwright("do", "open", url);
  await refused("a test that checks nothing cannot pass", "x");
  await labwright("check", "title", "Sign in");
  await refused("shop2", "x", "--app", "shop2");
  await refused("no letter or digit", "!!!");
  expect(existsSync(join(folder.path, "labwright"))).toBe(false);
  mkdirSync(join(folder.path, "labwright/tests"), { recursive: true });
  writeFileSync(join(folder.path, "labwright/tests/mine.yaml"), "mine");
  await refused("--force", "mine");
  expect(readFileSync(join(folder.path, "labwright/tests/mine.yaml"), "utf8")).toBe("mine");
  expect(await labwright("keep", "mine", "--force")).toMatchObject({ code: 0 });
  expect(kept("labwright/tests/mine.yaml").steps).toHaveLength(2);
  expect(await labwright("do", "click", refOf(out, "More"))).toMatchObject({ code: 0 });
  await labwright("check", "title", "Sign in");
  const last = await labwright("keep", "last", "--last", "1");
  expect(last).toMatchObject({ code: 0, out: expect.stringContaining("A test starts fresh") });
  expect(kept("labwright/tests/last.yaml").steps).toHaveLength(1);
  // A device that is taken anew begins a new test.
  await labwright("take");
  await refused("nothing to keep", "y");
});
