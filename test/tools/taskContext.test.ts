import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct(`devices:
  - { name: box, model: simulated }
  - { name: other, model: simulated }
  - { name: browser, model: web }
  - { name: tv, model: simulated, controllers: { simulated_capture: { width: 1280, height: 720 }, image: {} } }
  - { name: broken, model: simulated, controllers: { simulated_infrared: { fail_at_open: no cable } } }
`);
  client = await product.connect();
  await client.call("import_userinterface", { yaml: boxYaml("box") });
});
afterAll(() => product.dispose());

const replySchema = z.object({
  contexts: z.array(
    z.object({
      device_id: z.string(),
      navigation: z.array(z.string()),
      actions: z.array(z.string()),
      verifications: z.array(z.string()),
      more: z.object({ actions: z.int().optional(), verifications: z.int().optional() }).default({}),
      unavailable: z.array(z.string()).optional(),
    }),
  ),
});
async function contexts(device_ids: string[], more: object = {}) {
  const given = { userinterface_name: "box", device_ids, ...more };
  return replySchema.parse((await client.call("get_task_context", given)).structured).contexts;
}
const contextOf = async (device: string, more: object = {}) => {
  const [context, ...others] = await contexts([device], more);
  if (!context || others.length > 0) throw new Error("one context was expected");
  return context;
};
test("at most 20 commands and 20 checks are shown, those of the first controllers first, and the rest is counted", async () => {
  const kinds = (lines: readonly string[]) => [
    ...new Set(lines.map((line) => /^\w+\((\w+)\): /.exec(line)?.[1])),
  ];
  const browser = await contextOf("browser");
  expect(browser.actions).toHaveLength(20);
  expect(browser.more.actions).toBeGreaterThan(0);
  expect(browser.verifications.length).toBeLessThanOrEqual(20);
  const tv = await contextOf("tv");
  expect(kinds(tv.actions)).toEqual(["remote"]);
  expect(kinds(tv.verifications)).toEqual(["verification_text", "verification_image"]);
});

test("several devices give one context each, in one reply", async () => {
  const both = await contexts(["box", "other"]);
  expect(both.map(({ device_id }) => device_id)).toEqual(["lab/box", "lab/other"]);
});

test("a controller that cannot be opened is named with its reason, and the others are offered", async () => {
  const { actions, unavailable } = await contextOf("broken");
  expect(unavailable).toEqual([expect.stringContaining("no cable")]);
  expect(actions).toContainEqual(expect.stringMatching(/^press_key\(remote\): /));
});

test("screen: true leaves out what the present screen cannot take", async () => {
  await client.call("navigate_to_node", { userinterface_name: "box", node: "Live", device_id: "box" });
  const here = await contextOf("box", { screen: true });
  expect(here.navigation).toEqual(["Home"]);
  expect(here.actions).not.toContainEqual(expect.stringContaining("input_text("));
  const whole = await contextOf("box");
  expect(whole.navigation).toContain("Settings");
  expect(whole.actions).toContainEqual(expect.stringContaining("input_text("));
});

test("waitForImageToAppear finds a saved picture on the screen", async () => {
  const on = { userinterface_name: "box", device_id: "tv" };
  const saved = await client.call("save_reference", {
    ...on,
    name: "Live",
    kind: "image",
    element: "Live TV",
  });
  expect(saved.error).toBeUndefined();
  const step = { index: 1, objective: "See it", command: "waitForImageToAppear" };
  const steps = [{ ...step, params: { reference: "box/Live" } }];
  const { structured } = await client.call("execute_plan", { ...on, plan: { task: "look", steps } });
  expect(structured).toMatchObject({ success: true, verified_count: 1 });
});

test("an app or a device that is not there is named, and nothing is offered", async () => {
  const ask = (given: Record<string, unknown>) => client.call("get_task_context", given);
  expect((await ask({ userinterface_name: "none" })).error?.code).toBe("USERINTERFACE_NOT_FOUND");
  expect((await ask({ userinterface_name: "box", device_ids: ["box", "none"] })).error?.code).toBe(
    "DEVICE_NOT_FOUND",
  );
});
