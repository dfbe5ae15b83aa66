import { expect, it } from "vitest";
import { Changes } from "#controllers/phones/changes.ts";

const never = new AbortController().signal;
const done = async (_signal?: AbortSignal) => undefined;

function changed(restores: boolean) {
  const changes = new Changes();
  const calls: string[] = [];
  const life = { open: done, close: done, isAlive: () => true, isDoubted: () => false };
  const remember = () =>
    changes.remember("clipboard", async () => {
      calls.push("emptied");
      return restores;
    });
  return { changes, calls, remember, phone: changes.within(life) };
}

it("restores a change when the next client opens the device, and tries again where it could not", async () => {
  const { changes, calls, remember, phone } = changed(false);
  remember();
  await phone.open(never);
  expect(calls).toEqual([]);
  changes.handOver();
  await phone.open(never);
  expect(phone.isDoubted()).toBe(true);
  await phone.open(never);
  expect(calls).toEqual(["emptied", "emptied"]);
});

it("leaves a change alone that the next client has made itself, until the client after it", async () => {
  const { changes, calls, remember, phone } = changed(false);
  remember();
  changes.handOver();
  await phone.open(never);
  remember();
  expect(phone.isDoubted()).toBe(false);
  await phone.open(never);
  expect(calls).toEqual(["emptied"]);
  changes.handOver();
  await phone.open(never);
  expect(calls).toEqual(["emptied", "emptied"]);
});

it("restores what was there before the first change, however often the client changes it", async () => {
  const { changes, calls, phone } = changed(true);
  const turn = (from: string) =>
    changes.remember("orientation", async () => {
      calls.push(from);
    });
  turn("portrait");
  turn("landscape");
  changes.handOver();
  await phone.open(never);
  await phone.open(never);
  expect(calls).toEqual(["portrait"]);
  turn("landscape");
  changes.handOver();
  await phone.open(never);
  expect(calls).toEqual(["portrait", "landscape"]);
});
