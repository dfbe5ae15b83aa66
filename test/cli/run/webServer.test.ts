import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { withWebServer } from "#mcp-server/cli/run/webServer.ts";
import { freePort } from "../../fixtures/loopback.ts";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 60_000 });

let folder: ReturnType<typeof temporaryFolder>;
let url: string;
beforeEach(async () => {
  folder = temporaryFolder();
  url = `http://127.0.0.1:${await freePort()}/`;
});
afterEach(() => folder.remove());

/** An app that first answers 500, writes its process id, and has a child that serves. */
const app = () => `
const { createServer } = require("node:http");
let asked = 0;
require("node:fs").writeFileSync("pid", String(process.pid));
createServer((_, response) => { response.statusCode = asked++ < 2 ? 500 : 200; response.end("here"); })
  .listen(${new URL(url).port}, "127.0.0.1");
console.log("listening");`;

function configure(command: string, more: Record<string, unknown> = {}): void {
  mkdirSync(join(folder.path, "app"), { recursive: true });
  writeFileSync(join(folder.path, "app", "app.cjs"), app());
  const web_server = { command, url, folder: "app", ...more };
  writeFileSync(join(folder.path, "labwright.yaml"), stringify({ web_server }));
}
const node = JSON.stringify(process.execPath);

function serving<Result>(work: () => Promise<Result>, signal = new AbortController().signal) {
  const said = { err: "" };
  const env = { PATH: process.env.PATH, LABWRIGHT_DATA_DIR: folder.path };
  const err = (text: string) => {
    said.err += text;
  };
  const result = withWebServer({}, { out: err, err, env, cwd: folder.path, signal }, work);
  return { result, said };
}
const text = async () => (await fetch(url)).text();
const isGone = () =>
  fetch(url).then(
    () => false,
    () => true,
  );
const pidOfApp = () => Number(readFileSync(join(folder.path, "app", "pid"), "utf8"));

it("starts the app, waits for its page, and ends it with its children, however the work ends", async () => {
  // The shell stays, and the app is its child.
  configure(`${node} app.cjs && echo over`);
  const { result, said } = serving(text);
  expect(await result).toBe("here");
  expect(said.err).toBe("");
  await expect.poll(isGone).toBe(true);
  const failing = serving(() => Promise.reject(new Error("it broke")));
  await expect(failing.result).rejects.toThrow("it broke");
  await expect.poll(isGone).toBe(true);
});

it("uses an app that runs already, and leaves it running", async () => {
  configure(`${node} app.cjs`);
  const server = createServer((_, response) => response.end("mine"));
  await new Promise<void>((listening) => server.listen(Number(new URL(url).port), "127.0.0.1", listening));
  const { result, said } = serving(text);
  expect(await result).toBe("mine");
  expect(said.err).toContain(`${url} is running already`);
  expect(await text()).toBe("mine");
  expect(existsSync(join(folder.path, "app", "pid"))).toBe(false);
  server.closeAllConnections();
  server.close();
});

it("says with its last output that an app died, or did not come", async () => {
  const never = vi.fn(async () => "ran");
  configure("echo port taken >&2; exit 3");
  await expect(serving(never).result).rejects.toMatchObject({
    code: "WEB_SERVER_FAILED",
    message: expect.stringMatching(/ended with code 3 before .* answered; its last output:\nport taken$/),
  });
  configure("echo compiling; sleep 600", { timeout_ms: 700 });
  await expect(serving(never).result).rejects.toMatchObject({
    code: "WEB_SERVER_FAILED",
    message: expect.stringMatching(/did not answer within 0\.7 s; its last output:\ncompiling$/),
  });
  configure("no-such-program-here");
  await expect(serving(never).result).rejects.toMatchObject({ message: expect.stringContaining("code 127") });
  expect(never).not.toHaveBeenCalled();
});

it("an app that dies during the run is reported", async () => {
  configure(`${node} app.cjs`);
  const { result, said } = serving(async () => {
    process.kill(pidOfApp());
    await expect.poll(isGone).toBe(true);
  });
  await result;
  expect(said.err).toMatch(/no longer answers after the run; its last output:\nlistening/);
});

it("Ctrl-C while the app starts, or later, ends it", async () => {
  configure(`${node} app.cjs`, { url: url.replace(/\d+\/$/, "9/") });
  const controller = new AbortController();
  const { result } = serving(text, controller.signal);
  await expect.poll(() => existsSync(join(folder.path, "app", "pid"))).toBe(true);
  controller.abort();
  await expect(result).rejects.toThrow();
  await expect.poll(isGone).toBe(true);
});

it("run starts it for its tests in a folder that is trusted, and lint says what is wrong with it", async () => {
  configure(`${node} app.cjs`);
  const env = { LABWRIGHT_DATA_DIR: join(folder.path, "data"), PATH: process.env.PATH ?? "" };
  mkdirSync(join(folder.path, "labwright/tests"), { recursive: true });
  const steps = [{ api_request: { url, checks: [{ status: 200 }] } }];
  writeFileSync(join(folder.path, "labwright/tests/here.yaml"), stringify({ steps }));
  const labwright = (...args: string[]) => run(args, { env, cwd: folder.path });
  const untrusted = {
    code: 2,
    err: expect.stringMatching(/labwright\.yaml sets web_server, .*run labwright trust/s),
  };
  expect(await labwright("run", "labwright")).toMatchObject(untrusted);
  expect(await run(["run", "labwright"], { env: { ...env, CI: "true" }, cwd: folder.path })).toMatchObject(
    untrusted,
  );
  const missing =
    /MISSING {2}trust: .*sets web_server, and its folder is not trusted\.\n *fix: .*labwright trust/;
  expect((await labwright("doctor")).out).toMatch(missing);
  expect(existsSync(join(folder.path, "app", "pid"))).toBe(false);
  const trusted = { code: 0, out: expect.stringMatching(/: web_server$/m) };
  expect(await labwright("trust")).toMatchObject(trusted);
  expect((await labwright("doctor")).out).toMatch(/^ok {7}trust: web_server in labwright\.yaml/m);
  // A torn list of trusted folders trusts none.
  truncateSync(join(folder.path, "data/trust.json"), 10);
  expect(await labwright("run", "labwright")).toMatchObject(untrusted);
  expect(await labwright("trust")).toMatchObject(trusted);
  expect(await labwright("run", "labwright")).toMatchObject({
    ...{ code: 0, out: expect.stringContaining("1 run: 1 passed") },
  });
  await expect.poll(isGone).toBe(true);
  configure(`${node} app.cjs; true`);
  expect(await labwright("run", "labwright")).toMatchObject({
    code: 2,
    err: expect.stringContaining("changed since"),
  });
  expect((await labwright("trust", "--list")).out).toContain("changed since");
  expect(await labwright("run", "labwright", "--trust-config")).toMatchObject({ code: 0 });
  expect(await labwright("trust", "--remove")).toMatchObject({ code: 0 });
  expect((await labwright("trust", "--list")).out).toBe("");
  await run(["stop"], { env, cwd: folder.path });
  configure("true", { url: "localhost" });
  const linted = await run(["lint", "labwright.yaml"], { env, cwd: folder.path });
  expect(linted).toMatchObject({ code: 2, out: expect.stringContaining("web_server.url: must be the http") });
});
