import { DeviceError, type Health } from "@labwright/controllers";
import { errors } from "@labwright/mcp-server";
import { expect, test } from "vitest";
import { watchStep } from "#mcp-server/services/devices/watchStep.ts";
import type { OpenDevice } from "#mcp-server/services/index.ts";
import { classOf, stopsPolling, stopsWalking, verdictOf } from "#mcp-server/services/records/verdicts.ts";
import { faultOf } from "#mcp-server/services/runs/judgement/index.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { simulatedDevices } from "../../fixtures/simulated.ts";

test("failed is said of the app alone", () => {
  const failed = Object.keys(errors).filter((code) => verdictOf(code) === "failed");
  expect(failed.sort()).toEqual([
    "ACTION_REJECTED",
    "COMMAND_TIMEOUT",
    "CONTEXT_NOT_FOUND",
    "ELEMENT_NOT_ACTIONABLE",
    "ELEMENT_NOT_FOUND",
    "FOCUS_TRAPPED",
    "INPUT_NOT_TAKEN",
    "NAVIGATION_FAILED",
    "NO_DIALOG",
    "STALE_REF",
    "TAB_NOT_FOUND",
    "VERIFICATION_FAILED",
    "VERIFICATION_TIMEOUT",
  ]);
});

test("a code of another program stops both polling and walking, and says nothing of the fault", () => {
  for (const code of ["EXIT_3", "toString"]) {
    expect([stopsPolling(code), stopsWalking(code), classOf(code)]).toEqual([true, true, "broken"]);
    expect(faultOf(code, "")).toBeUndefined();
  }
});

test("an app that is down can still come up while a check polls, and no other way through it helps", () => {
  for (const code of ["APP_UNREACHABLE", "PAGE_UNRESPONSIVE", "DEVICE_ERROR"])
    expect([code, stopsPolling(code), stopsWalking(code)]).toEqual([code, false, true]);
});

test("the analysis blames neither lab nor test for what the server calls the app's", () => {
  for (const code of Object.keys(errors))
    if (classOf(code) === "behaviour") expect([code, faultOf(code, "")]).toEqual([code, undefined]);
  for (const code of [
    "APP_UNREACHABLE",
    "DEVICE_LOST",
    "ENVIRONMENT_SLOW",
    "PAGE_UNRESPONSIVE",
    "STORAGE_FAILED",
  ])
    expect([code, faultOf(code, "")]).toEqual([code, "lab"]);
});

/** A device whose surroundings are as reported. */
async function deviceWith(health: Health): Promise<OpenDevice> {
  const { device } = await simulatedDevices({}).acquire({}, callContext(), { drives: false });
  const [controller] = device.controllers;
  if (!controller) throw new Error("The simulated device has no controller.");
  const watched = { ...controller, health: { watch: () => ({ ask: async () => health, end: () => {} }) } };
  return { ...device, controllers: [watched], isOpen: () => true };
}

const judged = async (
  health: Health,
  code: ConstructorParameters<typeof DeviceError>[0],
  deadlineMs = 1_000,
) => {
  const stepWatch = watchStep(await deviceWith(health));
  try {
    return await stepWatch.judge(new DeviceError(code, "It said so."), deadlineMs);
  } finally {
    stepWatch.end();
  }
};

test("what is around a step that waited in vain speaks louder than the step", async () => {
  const unreachable = { url: "http://app.test/items", reason: "nothing listens at that address" };
  expect(await judged({ unreachable }, "ELEMENT_NOT_FOUND")).toMatchObject({ code: "APP_UNREACHABLE" });
  expect(await judged({ blankMs: 499 }, "ELEMENT_NOT_FOUND")).toMatchObject({ code: "ELEMENT_NOT_FOUND" });
  expect(await judged({ blankMs: 500 }, "PAGE_UNRESPONSIVE")).toMatchObject({
    code: "ENVIRONMENT_SLOW",
    message: expect.stringMatching(/blank page took 500 ms to answer, out of 1000 ms/),
  });
});

test("a step that found what it did not want is judged by that alone", async () => {
  const unreachable = { url: "http://app.test/items", reason: "nothing listens at that address" };
  for (const code of ["ELEMENT_AMBIGUOUS", "INPUT_NOT_TAKEN", "INVALID_SELECTOR", "DEVICE_LOST"] as const)
    expect(await judged({ unreachable, blankMs: 9_000 }, code)).toMatchObject({ code });
});
