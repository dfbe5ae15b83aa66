import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { listenOnLoopback } from "../../fixtures/loopback.ts";
import { run, temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const server = createServer((_, response) => {
  response
    .setHeader("content-type", "text/html")
    .end("<!doctype html><title>Shop</title><h1>Welcome in</h1>");
});
const folder = temporaryFolder();
const [mine, other] = [join(folder.path, "mine"), join(folder.path, "other")];
const env = { LABWRIGHT_DATA_DIR: join(folder.path, "data") };
const labwright = (...args: string[]) => run(args, { env, cwd: mine });
let url: string;
beforeAll(async () => {
  for (const path of [join(mine, "labwright/tests"), other, env.LABWRIGHT_DATA_DIR])
    mkdirSync(path, { recursive: true });
  const devices = "devices: [{ name: browser }, { name: box, model: simulated }]\n";
  writeFileSync(join(env.LABWRIGHT_DATA_DIR, "labwright.yaml"), devices);
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  writeFileSync(
    join(mine, "labwright/tests/opens.yaml"),
    `steps:\n  - open ${url}?test\n  - check text "Welcome in"\n`,
  );
});
afterAll(async () => {
  await labwright("stop");
  server.close();
  folder.remove();
});
afterEach(() => labwright("release"));

it("run, keep and init work next to the folder's own lease, whose page stays as it was", async () => {
  await labwright("take", "browser");
  await labwright("do", "open", `${url}?mine`);
  await labwright("check", "text", "Welcome in");
  // No device is named, so the folder's own one is used.
  for (const args of [["labwright/tests/opens.yaml"], ["opens", "--device", "browser"]]) {
    const ran = await labwright("run", ...args);
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^passed +opens .* browser /) });
    expect(ran.err).toMatch(/^browser is held by this folder/);
  }
  const looked = await labwright("look");
  expect(looked).toMatchObject({ code: 0, err: "", out: expect.stringContaining("?mine") });
  expect(await labwright("init", url, "--device", "browser")).toMatchObject({ code: 0, err: "" });
  expect((await labwright("look")).out).toContain("?mine");
  const kept = await labwright("keep", "mine");
  expect(kept).toMatchObject({ code: 0, out: expect.stringContaining("2 steps, 1 check among them") });
});

it("a lease of another folder does", async () => {
  await run(["take", "browser"], { env, cwd: other });
  const held = await labwright("run", "labwright/tests/opens.yaml", "--device", "browser");
  expect(held).toMatchObject({ code: 2, err: expect.stringContaining("DEVICE_HELD") });
  await run(["release"], { env, cwd: other });
});

it("a folder's device counts for a run, also when its lease has ended", async () => {
  await labwright("take", "browser");
  await labwright("do", "open", url);
  const { session } = z
    .object({ session: z.string() })
    .parse(JSON.parse(readFileSync(join(mine, ".labwright/device.json"), "utf8")));
  await labwright("call", "release_control", "--json", JSON.stringify({ session_id: session }));
  expect(await labwright("run", "labwright/tests/opens.yaml")).toMatchObject({
    ...{ code: 0, err: "", out: expect.stringMatching(/^passed +opens .* browser /) },
  });
});
