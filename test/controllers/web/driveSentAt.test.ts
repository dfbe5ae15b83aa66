import { afterAll, beforeAll, expect, it } from "vitest";
import { openWebDevice, type WebDevice } from "./webDevice.ts";

const page = (body: string) => `data:text/html,${encodeURIComponent(`<meta charset="utf-8">${body}`)}`;
const slow = "const end = performance.now() + 1500; while (performance.now() < end);";

let device: WebDevice;
beforeAll(async () => {
  device = await openWebDevice();
});
afterAll(() => device.close());

async function timed(command: string, params: Record<string, unknown>) {
  const before = performance.now();
  const { sentAt } = await device.run(command, params);
  return { before, sentAt: sentAt ?? Number.NaN, after: performance.now() };
}

it("a click says when its last event was sent, before a handler that takes long, also where it opens another page", async () => {
  for (const handler of [slow, `${slow} location.href = 'data:text/html,next'`]) {
    await device.run("navigate_to_url", { url: page(`<button onclick="${handler}">Go</button>`) });
    const { before, sentAt, after } = await timed("click_element", { selector: "Go" });
    expect(sentAt).toBeGreaterThan(before);
    expect(after - sentAt).toBeGreaterThan(1_000);
  }
});

it("typed text and keys say it, and what sends no input says nothing", async () => {
  await device.run("navigate_to_url", { url: page(`<input aria-label="Name"><p>Here</p>`) });
  for (const [command, params] of [
    ["input_text", { selector: "Name", text: "Ada" }],
    ["press_key", { key: "a" }],
  ] as const) {
    const { before, sentAt, after } = await timed(command, params);
    expect(sentAt, command).toBeGreaterThan(before);
    expect(sentAt, command).toBeLessThan(after);
  }
  expect((await device.run("wait_for", { text: "Here" })).sentAt).toBeUndefined();
});

it("a page does not see how its inputs are heard", async () => {
  await device.run("navigate_to_url", { url: page("<p>Here</p>") });
  expect(await device.js("return 'labwrightInput' in window")).toBe(false);
});
