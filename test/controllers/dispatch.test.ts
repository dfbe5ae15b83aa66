import { DeviceError, DispatchRecord } from "@labwright/controllers";
import { expect, test } from "vitest";
import { sendInput, unsent } from "#controllers/dispatch.ts";

const lost = () => new DeviceError("TRANSPORT_LOST", "The connection broke.");
const send = (works: readonly (() => unknown)[]) => async () => {
  for (const work of works) await sendInput(async () => work());
};
const fail = () => {
  throw lost();
};
const failUnsent = () => {
  throw unsent(lost());
};
const done = () => undefined;

test.each([
  ["without an input", "no", async () => fail()],
  ["whose input was done", "yes", send([done, fail])],
  ["whose only input got no answer", "unknown", send([fail])],
  ["whose only input was not sent", "no", send([failUnsent])],
  ["that sent one input and not the next", "yes", send([done, failUnsent])],
  ["that sends within another input", "yes", () => sendInput(send([done, failUnsent]))],
  ["that sends nothing within another input", "no", () => sendInput(send([failUnsent]))],
])("a command %s is recorded as %s", async (_what, dispatched, command) => {
  const record = new DispatchRecord();
  await expect(record.run(command)).rejects.toThrow("The connection broke.");
  expect(record.dispatched).toBe(dispatched);
});

test("two commands at once have records of their own", async () => {
  const [first, second] = [new DispatchRecord(), new DispatchRecord()];
  await Promise.all([first.run(send([done])), second.run(send([fail])).catch(() => undefined)]);
  expect([first.dispatched, second.dispatched]).toEqual(["yes", "unknown"]);
});
