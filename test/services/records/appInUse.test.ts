import type { AppInUse, ControllerFactory } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { TestClient } from "../../fixtures/client.ts";
import { serve } from "../../fixtures/loopback.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";
import { chain } from "../apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const html = `<!doctype html><title>Shop</title>
  <button data-qa="buy">Buy</button><p data-testid="usual">Usual</p>`;

let product: Product;
let client: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  page = await serve((_, response) => void response.setHeader("content-type", "text/html").end(html));
  product = await openProduct("devices: [{ name: one, model: web }]");
  client = await product.connect();
  for (const [name, attribute] of [
    ["qa", "data-qa"],
    ["plain", "data-testid"],
  ]) {
    const made = await client.call("create_userinterface", {
      name,
      models: ["web"],
      app: { url: `${page.url}/` },
      test_id_attribute: attribute,
    });
    expect(made.isError, made.text).toBe(false);
    await client.call("create_node", {
      userinterface_name: name,
      label: "Shop",
      type: "entry",
      verifications: [{ command: "text_visible", params: { text: "Usual" } }],
    });
  }
  await client.call("execute_device_action", {
    actions: [{ command: "navigate_to_url", params: { url: `${page.url}/` } }],
  });
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

const sees = (testid: string) => ({
  id: "sees",
  type: "verification",
  command: "element_visible",
  params: { selector: `testid=${testid}` },
  timeout_ms: 500,
});

async function runs(name: string, testid: string, userinterface_name?: string): Promise<unknown> {
  const testcase = {
    name,
    ...(userinterface_name !== undefined && { userinterface_name }),
    ...chain([
      { id: "open", type: "action", command: "navigate_to_url", params: { url: `${page.url}/` } },
      sees(testid),
    ]),
  };
  const saved = await client.call("save_testcase", { testcase, replace: true });
  expect(saved.isError, saved.text).toBe(false);
  return (await client.call("execute_testcase", { testcase: name })).structured.status;
}

describe("the attribute that names elements for tests", () => {
  it("is that of the test's own app, whatever ran before", async () => {
    expect(await runs("of qa", "buy", "qa")).toBe("passed");
    expect(await runs("of plain", "usual", "plain")).toBe("passed");
    expect(await runs("of no app", "usual")).toBe("passed");
    expect(await runs("of qa", "buy", "qa")).toBe("passed");
    expect(await runs("of no app", "buy")).toBe("failed");
    const located = await client.call("verify_node", { userinterface_name: "qa", node: "Shop" });
    expect(located.isError, located.text).toBe(false);
    expect(await runs("of no app", "usual")).toBe("passed");
    expect(await runs("of plain", "buy", "plain")).toBe("failed");
  });

  it("is that of a test that another calls, and again the caller's behind it", async () => {
    expect(await runs("of qa", "buy", "qa")).toBe("passed");
    const testcase = {
      name: "caller",
      userinterface_name: "plain",
      ...chain([{ id: "call", type: "call_testcase", testcase: "of qa" }, sees("usual")]),
    };
    await client.call("save_testcase", { testcase });
    const { structured, text } = await client.call("execute_testcase", { testcase: "caller" });
    expect(structured.status, text).toBe("passed");
  });
});

/** The simulated device, which notes the app in use whenever a check looks. */
const notingApps = (seen: (AppInUse | undefined)[]): ControllerFactory => ({
  ...simulatedFactory,
  create: (settings, context) =>
    simulatedFactory.create(settings, context).map((controller) => ({
      ...controller,
      checks: controller.checks.map((check) => ({
        ...check,
        read(...look) {
          seen.push(context.app());
          return check.read(...look);
        },
      })),
    })),
});

it("a device knows url and package of the app in use, also of a test that another calls", async () => {
  const seen: (AppInUse | undefined)[] = [];
  const lab = await openProduct("devices: [{ name: box, model: simulated }]", {}, [notingApps(seen)]);
  const user = await lab.connect();
  const opens = [
    { id: "open", type: "action", command: "open_app", params: { app: "{{app}}" } },
    { id: "shown", type: "verification", command: "app_shown", params: { app: "{{app}}" }, timeout_ms: 0 },
  ];
  const call = { id: "call", type: "call_testcase", testcase: "in settings" };
  try {
    for (const name of ["settings", "home"]) {
      const app = { url: `http://${name}.test/`, package: `simulated.${name}` };
      await user.call("create_userinterface", { name, models: ["simulated"], app });
      const blocks = name === "home" ? [call, ...opens] : opens;
      const testcase = { name: `in ${name}`, userinterface_name: name, ...chain(blocks) };
      const saved = await user.call("save_testcase", { testcase });
      expect(saved.isError, saved.text).toBe(false);
    }
    const { structured, text } = await user.call("execute_testcase", { testcase: "in home" });
    expect(structured.status, text).toBe("passed");
  } finally {
    await lab.dispose();
  }
  expect(seen).toMatchObject([
    { name: "settings", url: "http://settings.test/", package: "simulated.settings" },
    { name: "home", url: "http://home.test/", package: "simulated.home" },
  ]);
});
