import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { showManyRows } from "../../fixtures/manyRows.ts";
import { openAndroid } from "./openAndroid.ts";

/** One more than are read, whatever else is on the screen. */
const rows = 20_001;
const first = "Row 0 of many";
const last = `Row ${rows - 1} of many`;

describe.each(["dump", "uiautomator2"])("a screen of more nodes than are read, by %s", (backend) => {
  let lab: AndroidLab;
  let phone: Awaited<ReturnType<typeof openAndroid>>;
  beforeAll(async () => {
    lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
    phone = await openAndroid({ adb_port: lab.adbPort, backend });
    const [one] = lab.devices;
    if (one) showManyRows(one.device.ui, rows);
  });
  afterAll(async () => {
    await phone.close();
    await lab.close();
  });

  it("says so in the notices of its dump", async () => {
    const { notices } = await phone.dump();
    expect(notices).toContainEqual(expect.stringMatching(/not read/));
  });

  const unsure = { holds: false, inconclusive: expect.stringContaining("not read") };
  it.each([
    ["element_hidden", { selector: last }],
    ["element_exists", { selector: last }],
    ["element_text", { selector: last, text: last }],
    ["text_visible", { text: "no text of it" }],
    ["element_count", { selector: first, count: 1 }],
    ["element_count", { selector: first, min: 2 }],
    ["element_count", { selector: first, max: 1 }],
    ["toast_seen", { text: "no toast of it" }],
  ])("makes %s %j inconclusive", async (check, params) => {
    expect(await phone.read(check, params)).toMatchObject(unsure);
  });

  it.each([
    ["element_exists", { selector: first }, true],
    ["text_visible", { text: first }, true],
    ["element_hidden", { selector: first }, false],
    ["element_count", { selector: first, min: 1 }, true],
    ["element_count", { selector: first, count: 0 }, false],
  ])("is judged by %s %j where the part that was read decides", async (check, params, holds) => {
    const reading = await phone.read(check, params);
    expect({ holds: reading.holds, why: reading.inconclusive }).toEqual({ holds, why: undefined });
  });

  it.each([
    { selector: last, state: "hidden" },
    { text_gone: last },
  ])("is waited for in vain with %j", async (condition) => {
    await expect(phone.run("wait_for", { ...condition, timeout_ms: 300 })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: expect.stringContaining("not read"),
    });
  });
});
