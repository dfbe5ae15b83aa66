import { expect, onTestFinished, test } from "vitest";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { openProduct } from "../fixtures/product.ts";

const calls = 500;
/** The runs of one phone follow each other, so that as many shells run at the same time as there are phones. */
const phones = 10;

test("500 shells at once through the tools: each has its own answer, of its own phone, and nothing stays open", async () => {
  const lab = await startAndroidLab({
    devices: Array.from({ length: phones }, () => ({ persona: "phone" })),
  });
  for (const [at, { device }] of lab.devices.entries())
    device.system.properties.set("ro.serialno", `LAB${at}`);
  const lines = lab.devices.map(
    ({ serial }, at) =>
      `  - { name: phone${at}, model: android_mobile, controllers: { android: { serial: "${serial}", adb_port: ${lab.adbPort}, backend: dump } } }`,
  );
  const product = await openProduct(["devices:", ...lines, "unsafe: { device_shell: true }"].join("\n"));
  onTestFinished(lab.close);
  onTestFinished(() => product.dispose());
  const client = await product.connect();
  const streams = () =>
    lab.devices.flatMap(({ device }) => device.traffic.current.map(({ service }) => service));
  const shell = (at: number) =>
    client.call("execute_device_action", {
      device_id: `phone${at % phones}`,
      look: false,
      actions: [{ command: "device_shell", params: { command: `getprop ro.serialno; echo call ${at}` } }],
    });
  // Once each, since what goes on as long as a device is used is open from then on.
  await Promise.all(lab.devices.map((_, at) => shell(at)));
  const before = streams();
  const answers = await Promise.all(Array.from({ length: calls }, (_, at) => shell(at)));
  const wrong = answers.flatMap(({ text, error }, at) => {
    const said = text
      .match(/LAB\d+|call \d+/g)
      ?.slice(0, 2)
      .join(" ");
    return error === undefined && said === `LAB${at % phones} call ${at}`
      ? []
      : [`${at}: ${text.slice(0, 200)}`];
  });
  expect(wrong).toEqual([]);
  await expect.poll(streams).toEqual(before);
});
