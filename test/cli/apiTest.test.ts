import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { shopFaults } from "../bench/step13/shopFaults.ts";
import { serveShop, shopTokens } from "../fixtures/apiShop.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { run, temporaryFolder } from "./fixtures.ts";

const folder = temporaryFolder();
let daemon: DaemonProcess;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  daemon = await startDaemonProcess({ dataDir: join(folder.path, "data") });
  mkdirSync(join(folder.path, "project/labwright/tests"), { recursive: true });
});
afterAll(async () => {
  daemon?.signal("SIGTERM");
  await daemon?.ended;
  for (const close of closing) await close();
  folder.remove();
});

async function apiTest(faults: Parameters<typeof serveShop>[0], ...more: string[]) {
  const shop = await serveShop(faults);
  closing.push(shop.close);
  const project = join(folder.path, "project");
  const document = await (await fetch(shop.documentUrl)).text();
  writeFileSync(join(project, "openapi.json"), document);
  const auth = { anna: { token: shopTokens.anna }, berta: { token: shopTokens.berta } };
  writeFileSync(join(project, "own.yaml"), stringify({ base_url: new URL(shop.documentUrl).origin, auth }));
  const args = [
    "api-test",
    "openapi.json",
    "--tests",
    "own.yaml",
    "--seed",
    "7",
    "--data-dir",
    daemon.dataDir,
  ];
  return run([...args, ...more], { cwd: project, env: { GITHUB_ACTIONS: "true" } });
}

test("a finding ends with 1, is named with its request and at GitHub, and stands in the report; a sound API ends with 0", async () => {
  const one = shopFaults.filter(({ name }) => name === "price as text");
  const { code, out, err } = await apiTest(one, "--operation", "readProduct", "--report", "reports");
  expect({ code, err }).toEqual({ code: 1, err: "" });
  expect(out).toMatch(/^failed +API tests of /m);
  expect(out).toMatch(/^readProduct: F101 .* at \S*price\S*: expected .*\n +repeat +curl /m);
  expect(out).toMatch(/^::error::readProduct: F101 /m);
  expect(out).toMatch(/^1 of 1 operation tried, 1 finding$/m);
  expect(out).not.toContain(shopTokens.anna);
  const junit = readFileSync(join(folder.path, "project/reports/junit.xml"), "utf8");
  expect(junit).toMatch(/failures="1"/);

  const sound = await apiTest([], "--operation", "readProduct", "--operation", "listRooms");
  expect(sound).toMatchObject({ code: 0, out: expect.stringMatching(/^2 of 2 .* 0 findings$/m) });
});

test("what cannot be judged or read ends with 2", async () => {
  const away = await apiTest([], "--url", "http://127.0.0.1:9", "--operation", "readProduct");
  expect(away).toMatchObject({ code: 2, out: expect.stringContaining("APP_UNREACHABLE") });
  const wrong = await apiTest([], "--operation", "readProdukt");
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("OPERATION_NOT_FOUND") });
});
