import { afterAll, beforeAll, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../../fixtures/androidLab.ts";
import type { UiNode } from "../../../lab/android/labUi.ts";

let lab: AndroidLab;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone", webView: { chromium: "chromium" } }] });
});
afterAll(() => lab.close());

const phone = () => {
  const [found] = lab.devices;
  if (!found) throw new Error("The laboratory has no phone.");
  return found;
};
const nodes = (node: UiNode = phone().device.ui.active().root): UiNode[] => [
  node,
  ...node.children.flatMap(nodes),
];
const called = (text: string): UiNode => {
  const found = nodes().find((node) => node.text === text);
  if (!found) throw new Error(`Nothing says ${text}: ${nodes().map((node) => node.text)}`);
  return found;
};
const tap = ({ bounds: { x, y, width, height } }: UiNode) =>
  phone().device.ui.tap({ x: x + width / 2, y: y + height / 2 });

it("the WebView shows the page of a real Chromium, which takes touches, keys and texts", async () => {
  const { device, serial } = phone();
  device.ui.open("labsamples://web");
  await device.ui.settle();
  tap(called("Name"));
  device.ui.type("Anna");
  device.ui.key(67);
  device.ui.type("e");
  tap(called("Order now"));
  await device.ui.settle();
  expect(called("Ordered for Anne").resourceId).toBe("said");
  const field = nodes().find(({ resourceId }) => resourceId === "name");
  expect(field && device.ui.setText(field, "Zoë 👍🏽")).toBe(true);
  tap(called("Order now"));
  expect(await lab.shell(serial, "uiautomator dump /dev/tty")).toContain("Ordered for Zoë 👍🏽");
});

it("apps may be debugged from when they show a WebView until they end", async () => {
  const { device, serial } = phone();
  const sockets = () => lab.shell(serial, "cat /proc/net/unix");
  device.ui.open("labsamples://web");
  await device.ui.settle();
  expect(await sockets()).toMatch(/@webview_devtools_remote_\d+$/m);
  device.ui.stop("dev.labwright.samples");
  expect(await sockets()).not.toContain("devtools");
  device.faults.webViewsNotDebuggable = true;
  device.ui.open("labsamples://web");
  await device.ui.settle();
  expect(await sockets()).not.toContain("devtools");
});
