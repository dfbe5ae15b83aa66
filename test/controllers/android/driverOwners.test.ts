import { afterEach, beforeEach, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { nothingLeft } from "./driverTraces.ts";
import { openAndroid } from "./openAndroid.ts";

type Phone = Awaited<ReturnType<typeof openAndroid>>;

let lab: AndroidLab;
let first: Phone;
let second: Phone;

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const settings = { adb_port: lab.adbPort, backend: "uiautomator2" };
  [first, second] = await Promise.all([openAndroid(settings), openAndroid(settings)]);
});
afterEach(async () => {
  await first.close();
  await second.close();
  await lab.close();
});

const snapshot = (phone: Phone) => phone.dump();
const canRead = async (phone: Phone) => expect((await snapshot(phone)).elements.length).toBeGreaterThan(3);
const isBusy = (phone: Phone) =>
  expect(snapshot(phone)).rejects.toMatchObject({
    code: "UIA_BUSY",
    message: expect.stringMatching(/End (?:it|that program)/),
  });
const noteOf = ({ remote }: Phone) => remote.facts?.().note ?? "";

it("of two owners the one that lost the device says so, and takes it back once", async () => {
  await canRead(first);
  expect(noteOf(first)).not.toMatch(/took the place/);
  await canRead(second);
  expect(noteOf(second)).toMatch(/took the place of another program/);
  await isBusy(first);
  // What the loser takes away is not the server of the winner.
  await canRead(second);
  await canRead(first);
  await isBusy(second);
  await canRead(second);
  for (let n = 0; n < 3; n++) {
    await isBusy(first);
    await canRead(second);
  }
  await second.close();
  await canRead(first);
  expect(noteOf(first)).not.toMatch(/took the place/);
});

it("an owner that closes without knowing that it lost the device leaves the other one's session alone", async () => {
  await canRead(first);
  await canRead(second);
  const { uia2 } = lab.devices[0]?.device ?? {};
  await first.close();
  await canRead(second);
  expect(lab.devices[0]?.device.uia2).toBe(uia2);
  await second.close();
  await nothingLeft(lab);
});
