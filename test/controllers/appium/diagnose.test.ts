import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { appiumFactory } from "@labwright/controllers";
import { expect, it } from "vitest";
import { whyNotOnNode } from "#controllers/appium/diagnose.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { startLabIos } from "../../lab/ios/index.ts";
import { never } from "../android/openAndroid.ts";

const diagnose = (settings: unknown, addons = testAddons) =>
  appiumFactory.diagnose?.(appiumFactory.settings.parse(settings), { env: {}, addons, signal: never });

it("finds add-on, capabilities and server in order, and opens no session", async () => {
  const lab = await startLabIos();
  expect(await diagnose({ url: lab.url, capabilities: { platformName: "iOS" } })).toMatchObject([
    { what: "add-on appium-client", status: whyNotOnNode(process.versions.node) ? "warning" : "ok" },
    { status: "ok", detail: "for ios" },
    { what: "Appium server", status: "ok", detail: expect.stringContaining(lab.url) },
  ]);
  expect(lab.requests.map(({ path }) => path)).toEqual(["/status"]);
  await lab.close();
});

it("says what mends an add-on that is missing, capabilities without a platform and a server that is not there", async () => {
  const lab = await startLabIos();
  await lab.close();
  const missing = { ...testAddons, state: () => "missing" as const };
  expect(await diagnose({ url: lab.url }, missing)).toMatchObject([
    { status: "missing", fix: "Run: labwright setup appium" },
    { status: "missing", fix: expect.stringContaining("platformName") },
    {
      status: "missing",
      detail: expect.stringContaining(lab.url),
      fix: expect.stringContaining("controllers.appium.url"),
    },
  ]);
});

it.each([
  ["20.20.2", true],
  ["20.19.5", false],
  ["22.23.4", true],
  ["22.23.3", false],
  ["24.30.0", true],
  ["18.20.8", false],
])("Node %s: %s", (version, isFit) => {
  expect(whyNotOnNode(version) === undefined).toBe(isFit);
});

it("does not look at an address that is a secret, and shows no key of one that is not", async () => {
  expect(await diagnose({ url: "{{secret.CLOUD}}", capabilities: { platformName: "iOS" } })).toMatchObject([
    {},
    {},
    { status: "ok", detail: expect.stringContaining("secret") },
  ]);
  const findings = await diagnose({
    url: "http://anna:k3y@127.0.0.1:9/t0ken",
    capabilities: { platformName: "iOS" },
  });
  expect(JSON.stringify(findings)).not.toMatch(/k3y|t0ken/);
});

it.each([
  [{}, "give url, or a preset"],
  [{ url: "ftp://x" }, "an address of an Appium server"],
  [{ url: "http://x", capabilites: {} }, "capabilites"],
])("refuses the settings %j", (settings, problem) => {
  const { success, error } = appiumFactory.settings.safeParse(settings);
  expect(success).toBe(false);
  expect(JSON.stringify(error?.issues)).toContain(problem);
});

it("warns of an address where something other than Appium answers", async () => {
  const page = createServer((_, response) => response.end("<html>hello</html>"));
  await once(page.listen(0, "127.0.0.1"), "listening");
  const { port } = page.address() as AddressInfo;
  expect(
    await diagnose({ url: `http://127.0.0.1:${port}`, capabilities: { platformName: "iOS" } }),
  ).toMatchObject([
    {},
    {},
    { status: "warning", detail: expect.stringContaining("not as an Appium server does") },
  ]);
  page.close();
});

it("an address that cannot be one is refused with the configuration", () => {
  for (const url of ["http://127.0.0.1:4999999", "http://", "ftp://a"])
    expect(appiumFactory.settings.safeParse({ url }).success).toBe(false);
  expect(appiumFactory.settings.safeParse({ url: "http://anna:{{secret.KEY}}@cloud.example" }).success).toBe(
    true,
  );
});
