import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
const capture = "{ width: 1280, height: 720, frames_per_second: 20 }";
beforeAll(async () => {
  product = await openProduct(`devices:
  - { name: tv, model: simulated, controllers: { simulated_infrared: {}, simulated_capture: ${capture}, image: {} } }
  - { name: own, model: simulated, screen: simulated, controllers: { simulated_capture: ${capture}, image: {} } }
  - { name: small, model: simulated, controllers: { simulated_capture: { frames_per_second: 20 }, image: {} } }
  - { name: liar, model: simulated, controllers: { simulated_capture: { lie_about_size: true } } }
  - { name: hung, model: simulated, controllers: { simulated_infrared: { fail_at_open: no cable }, simulated_capture: { hang_at_open: true } } }
  - { name: poor, model: simulated, controllers: { simulated: { withhold: [open_app] } } }
`);
  client = await product.connect();
  await made("create_userinterface", {
    name: "tv",
    models: ["simulated"],
    app: { package: "simulated.home" },
  });
  await made("save_reference", { ...on("own"), name: "Home", kind: "image", element: "Live TV" });
});
afterAll(() => product.dispose());

const on = (device_id: string) => ({ device_id, userinterface_name: "tv" });
async function made(tool: string, params: Record<string, unknown>) {
  const reply = await client.call(tool, params);
  expect(reply.error).toBeUndefined();
  return reply.structured;
}
const act = (device_id: string, command: string, params: object, action_type?: string) =>
  client.call("execute_device_action", {
    device_id,
    actions: [{ command, params, ...(action_type && { action_type }) }],
  });
const shown = (reference: string, more: object = {}) => ({
  command: "image_visible",
  params: { reference, area: "saved" },
  ...more,
});
const verify = (device_id: string, ...checks: object[]) =>
  client.call("verify_device_state", { device_id, checks, timeout_ms: 2_000 });

test("the picture is the one that a viewer sees, unless the device says otherwise", async () => {
  expect(await made("capture_screenshot", { device_id: "tv" })).toMatchObject({ width: 1280, height: 720 });
  expect(await made("capture_screenshot", { device_id: "own" })).toMatchObject({ width: 640, height: 360 });
});

test("a check of a picture judges an artifact or an upload in place of the screen, and its reply names it", async () => {
  const { artifact: uri } = await made("capture_screenshot", { device_id: "own" });
  await act("own", "press_key", { key: "OK" });
  expect((await verify("own", shown("tv/Home", { timeout_ms: 100 }))).structured).toMatchObject({
    pass: false,
  });
  await act("own", "press_key", { key: "BACK" });
  const judge = (source: unknown, check: object = shown("tv/Home")) =>
    client.call("verify_device_state", { device_id: "own", checks: [check], source });
  expect((await judge(uri)).structured).toMatchObject({ pass: true, verdicts: [{ evidence: [uri] }] });
  const uploads = product.config.folders.uploads;
  mkdirSync(uploads, { recursive: true });
  const { default: sharp } = await import("sharp");
  const blank = { create: { width: 640, height: 360, channels: 3 as const, background: "black" } };
  writeFileSync(join(uploads, "black.png"), await sharp(blank).png().toBuffer());
  writeFileSync(join(uploads, "text.png"), "no picture");
  expect((await judge("black.png")).structured).toMatchObject({ pass: false, verdicts: [{ attempts: 1 }] });
  expect((await judge("text.png")).error?.code).toBe("INVALID_INPUT");
  expect((await judge("../text.png")).error?.code).toBe("PATH_DENIED");
  expect((await judge(`artifact://${"0".repeat(64)}`)).error?.code).toBe("ARTIFACT_NOT_FOUND");
  const text = { command: "text_visible", params: { text: "Live TV" } };
  expect((await judge(uri, text)).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("text_visible"),
  });
});

test("marks and areas of the box's own plane are drawn where they are in the viewer's, or refused", async () => {
  expect((await client.call("capture_screenshot", { device_id: "tv", marks: true })).error).toBeUndefined();
  expect((await client.call("capture_screenshot", { device_id: "liar", marks: true })).error).toMatchObject({
    code: "SPACE_MISMATCH",
  });
});

test("a key goes by the driver that is named, and both remotes reach one box", async () => {
  expect((await act("tv", "press_key", { key: "HOME" }, "simulated_infrared")).error).toBeUndefined();
  expect((await act("tv", "press_key", { key: "DOWN" }, "simulated")).error).toBeUndefined();
  const focus = { command: "element_focused", params: { selector: "Movies" } };
  expect((await verify("tv", focus)).structured).toMatchObject({ pass: true });
  expect((await act("tv", "press_key", { key: "OK" }, "infrared")).error).toMatchObject({
    code: "ACTION_NOT_FOUND",
    message: expect.stringContaining("simulated_infrared"),
  });
});

test("a picture is found in frames of another size, with its score, its place and the frame as evidence", async () => {
  await act("tv", "press_key", { key: "HOME" });
  // A busy machine takes long for a reference of half the width.
  expect((await verify("tv", shown("tv/Home", { timeout_ms: 30_000 }))).structured).toMatchObject({
    pass: true,
    verdicts: [
      {
        score: expect.any(Number),
        area: { x: 80, y: 280, width: expect.closeTo(800, -2), height: expect.closeTo(100, -1) },
        evidence: expect.arrayContaining([expect.stringContaining("artifact://")]),
      },
    ],
  });
  await act("tv", "click_element", { selector: "Settings" });
  expect((await verify("tv", shown("tv/Home", { timeout_ms: 500 }))).structured).toMatchObject({
    pass: false,
    verdicts: [{ pass: false, score: expect.any(Number) }],
  });
  expect((await verify("tv", shown("tv/Hoem"))).error).toMatchObject({
    code: "REFERENCE_NOT_FOUND",
    message: expect.stringContaining("Home"),
  });
});

test("a KPI runs from the last input to the first frame that shows the reference, and says its error", async () => {
  await act("small", "click_element", { selector: "Settings" });
  await made("save_reference", {
    ...on("small"),
    name: "Title",
    kind: "image",
    element: "Device settings",
  });
  await made("create_userinterface", {
    name: "timed",
    models: ["simulated"],
    app: { package: "simulated.home" },
  });
  const timed = { userinterface_name: "timed" };
  const reads = (text: string) => ({ command: "text_visible", params: { text } });
  await made("create_node", {
    ...timed,
    label: "Home",
    type: "entry",
    verifications: [reads("Welcome home")],
  });
  await made("create_node", { ...timed, label: "Settings", verifications: [reads("Device settings")] });
  const click = { command: "click_element", params: { selector: "Settings" } };
  await made("create_edge", {
    ...timed,
    source: "Home",
    target: "Settings",
    action_sets: [{ actions: [click], kpi: [shown("tv/Title")] }],
  });
  await act("small", "press_key", { key: "HOME" });
  const travelled = await made("navigate_to_node", {
    ...timed,
    device_id: "small",
    node: "Settings",
    wait_ms: 30_000,
  });
  const run = await product.services.executions.get(z.string().parse(travelled.execution_id));
  const last = z
    .object({ output: z.object({ kpi_ms: z.number(), kpi_error_ms: z.number() }) })
    .parse(run.steps.at(-1));
  expect(last.output.kpi_ms).toBeGreaterThanOrEqual(0);
  expect(last.output.kpi_ms).toBeLessThan(5_000);
  // Twenty frames a second: the picture may have come up to one frame earlier.
  expect(last.output.kpi_error_ms).toBeGreaterThanOrEqual(50);
});

test("without a signal it cannot be judged: never a pass, also of the opposite, and runs end as errors", async () => {
  await act("tv", "simulate_fault", { kind: "no_signal" });
  const unsure = { pass: false, inconclusive: expect.stringContaining("no frame") };
  const quick = { timeout_ms: 500 };
  expect((await verify("tv", shown("tv/Home", quick))).structured).toMatchObject(unsure);
  expect((await verify("tv", shown("tv/Home", { ...quick, negate: true }))).structured).toMatchObject(unsure);
  await made("save_testcase", {
    testcase: {
      name: "looks",
      userinterface_name: "tv",
      ...chain([{ type: "verification", ...shown("Home", { ...quick, negate: true }) }]),
    },
  });
  const run = await made("execute_testcase", { testcase: "looks", device_id: "tv", wait_ms: 30_000 });
  expect(run).toMatchObject({ status: "error", reason: { code: "CHECK_INCONCLUSIVE" } });
  await made("create_node", {
    userinterface_name: "tv",
    label: "Start",
    type: "entry",
    verifications: [shown("Home", quick)],
  });
  const travelled = await client.call("navigate_to_node", { ...on("tv"), node: "Start", wait_ms: 30_000 });
  expect(JSON.stringify([travelled.error, travelled.structured])).toContain("CHECK_INCONCLUSIVE");
  if (hasSandbox) {
    mkdirSync(product.config.folders.scripts, { recursive: true });
    writeFileSync(
      join(product.config.folders.scripts, "looks.py"),
      `import labwright
check = {"command": "image_visible", "params": {"reference": "tv/Home"}, "timeout_ms": 500}
labwright.call("verify_device_state", checks=[check])
labwright.result("passed")
`,
    );
    const script = await made("execute_script", { script: "looks.py", device_id: "tv", wait_ms: 30_000 });
    expect(script).toMatchObject({ status: "error", reason: { code: "CHECK_INCONCLUSIVE" } });
  }
  const info = await made("get_device_info", { device_id: "tv" });
  expect(JSON.stringify(info)).toContain("nothing comes from the box");
  await act("tv", "simulate_fault", { kind: "no_signal", on: false });
});

test("a controller that hangs or fails is reported with its reason, and holds up no one", async () => {
  expect((await act("hung", "press_key", { key: "DOWN" })).error).toBeUndefined();
  const info = await made("get_device_info", { device_id: "hung" });
  expect(JSON.stringify(info)).toContain("no cable");
  expect((await act("hung", "press_key", { key: "DOWN" }, "simulated_infrared")).error).toMatchObject({
    code: "CONTROLLER_UNAVAILABLE",
    message: expect.stringContaining("no cable"),
  });
});

test("what a device withholds is said with its reason", async () => {
  const reply = await act("poor", "open_app", { app: { package: "simulated.home" } });
  expect(reply.error).toMatchObject({
    code: "ACTION_NOT_FOUND",
    message: expect.stringContaining("made without it"),
  });
});
