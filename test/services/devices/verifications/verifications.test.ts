import { DeviceError, type DriverController, defineCheck, defineFactory } from "@labwright/controllers";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Verification } from "../../../../mcp-server/src/domain/index.ts";
import { createVerifications } from "../../../../mcp-server/src/services/devices/verifications/index.ts";
import type { ScreenService } from "../../../../mcp-server/src/services/ports.ts";
import { systemClock } from "../../../../mcp-server/src/services/records/clock.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { openBox, testSecrets } from "../../../fixtures/simulated.ts";

const signal = new AbortController().signal;
const picture: ScreenService = {
  capture: async () => ({
    frame: { mimeType: "image/png", bytes: new Uint8Array(1), width: 1, height: 1, takenAt: "" },
    artifact: { uri: "artifact://abc", sha256: "abc", mime_type: "image/png", bytes: 1 },
  }),
  screenshot: () => Promise.reject(new Error("not in this test")),
  dump: () => Promise.reject(new Error("not in this test")),
  changes: async () => undefined,
};
const service = (clock = systemClock) =>
  createVerifications({ clock, secrets: testSecrets({ PIN: "9876" }), screen: picture });
const check = (
  command: string,
  params: Verification["params"],
  more: Partial<Verification> = {},
): Verification => ({
  command,
  params,
  ...more,
});
const options = { passCondition: "all", timeoutMs: 0, signal } as const;

/** A device whose one check gives the readings of a script, the last for ever. */
function scriptedBox(script: readonly (boolean | DeviceError)[]) {
  let looks = 0;
  const read = async () => {
    const next = script[Math.min(looks, script.length - 1)];
    looks += 1;
    if (next instanceof DeviceError) throw next;
    return {
      holds: next === true,
      expected: "ready",
      actual: next ? "ready" : "not yet",
      nearest: ["nearly"],
    };
  };
  const controller: DriverController = {
    kind: "verification_text",
    commands: [],
    checks: [defineCheck({ name: "ready", description: "It is ready", input: z.strictObject({}), read })],
    open: async () => {},
    close: async () => {},
    isAlive: () => true,
    noticesAfter: () => [],
  };
  const factory = defineFactory({
    name: "simulated",
    kinds: ["verification_text"],
    settings: z.unknown(),
    offers: () => [],
    create: () => [controller],
  });
  return openBox({ factories: [factory] });
}

test("a check that holds passes at once; one that does not fails with what was found, the nearest and a picture", async () => {
  const box = await openBox();
  const passed = await service().check(box, [check("text_visible", { text: "Welcome" })], options);
  expect(passed).toMatchObject({ pass: true, verdicts: [{ attempts: 1, evidence: [] }] });
  const failed = await service().check(box, [check("element_visible", { selector: "Movie" })], options);
  expect(failed).toMatchObject({
    pass: false,
    verdicts: [
      {
        pass: false,
        actual: "it is not there",
        nearest: expect.arrayContaining(["Movies"]),
        evidence: ["artifact://abc"],
      },
    ],
  });
});

test("a check is polled until it holds", async () => {
  const clock = fakeClock();
  const box = await scriptedBox([false, false, false, true]);
  const run = service(clock).check(box, [check("ready", {})], { ...options, timeoutMs: 2_000 });
  let done = false;
  const watched = run.finally(() => {
    done = true;
  });
  for (let step = 0; step < 20 && !done; step++) await clock.advance(100);
  expect(await watched).toMatchObject({ pass: true, verdicts: [{ attempts: 4 }] });
});

test("polling ends at the deadline, after a last look", async () => {
  const clock = fakeClock();
  const box = await scriptedBox([false]);
  const started = clock.now();
  const run = service(clock).check(box, [check("ready", {}, { timeout_ms: 1_000 })], {
    ...options,
    timeoutMs: 60_000,
  });
  for (let step = 0; step < 30; step++) await clock.advance(50);
  const { pass, verdicts } = await run;
  expect(pass).toBe(false);
  expect(verdicts[0]?.elapsed_ms).toBe(1_000);
  expect(clock.now() - started).toBeGreaterThanOrEqual(1_000);
});

test("a page that was busy for a moment at the end fails by what was read; one busy for most of the time is an error", async () => {
  const busyFor = (ms: number) => new DeviceError("PAGE_UNRESPONSIVE", "busy", { busy_ms: ms });
  const within = { ...options, timeoutMs: 300, evidence: false };
  const read = await service().check(await scriptedBox([false, busyFor(20)]), [check("ready", {})], within);
  expect(read).toMatchObject({ pass: false, verdicts: [{ actual: "not yet" }] });
  expect(read.verdicts[0]?.error).toBeUndefined();
  for (const script of [[false, busyFor(200)], [busyFor(20)]]) {
    const run = service().check(await scriptedBox(script), [check("ready", {})], within);
    await expect(run).rejects.toMatchObject({ code: "PAGE_UNRESPONSIVE" });
  }
});

test("a device that cannot be read for a moment is looked at again; a lost browser ends the check", async () => {
  const busy = await scriptedBox([new DeviceError("ELEMENT_NOT_FOUND", "gone"), true]);
  expect(await service().check(busy, [check("ready", {})], { ...options, timeoutMs: 5_000 })).toMatchObject({
    pass: true,
  });
  const lost = await scriptedBox([new DeviceError("DEVICE_LOST", "dead")]);
  const run = service().check(lost, [check("ready", {})], { ...options, timeoutMs: 5_000 });
  await expect(run).rejects.toMatchObject({ code: "DEVICE_LOST" });
});

test("negate turns a check round, and any needs only one", async () => {
  const box = await openBox();
  const here = check("text_visible", { text: "Welcome" });
  const away = check("text_visible", { text: "Goodbye" });
  expect((await service().check(box, [{ ...away, negate: true }], options)).pass).toBe(true);
  expect((await service().check(box, [{ ...here, negate: true }], options)).pass).toBe(false);
  expect((await service().check(box, [here, away], options)).pass).toBe(false);
  expect((await service().check(box, [here, away], { ...options, passCondition: "any" })).pass).toBe(true);
});

test("nothing to check is refused, never passed", async () => {
  await expect(service().check(await openBox(), [], options)).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
});

test("an unknown check and a bad parameter are named with the nearest", async () => {
  const box = await openBox();
  await expect(service().check(box, [check("text_visble", {})], options)).rejects.toMatchObject({
    code: "ACTION_NOT_FOUND",
    details: { nearest: expect.arrayContaining(["text_visible"]) },
  });
  await expect(service().check(box, [check("text_visible", { txt: "x" })], options)).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("text"),
  });
});

test("a secret in a check never comes back", async () => {
  const box = await openBox();
  const report = await service().check(box, [check("text_visible", { text: "{{secret.PIN}}" })], options);
  expect(JSON.stringify(report)).not.toContain("9876");
  expect(report.verdicts[0]?.expected).toContain("[secret PIN]");
});

test("cancelling ends the polling", async () => {
  const stop = new AbortController();
  const box = await scriptedBox([false]);
  const run = service().check(box, [check("ready", {})], {
    ...options,
    timeoutMs: 60_000,
    signal: stop.signal,
  });
  stop.abort(new Error("enough"));
  await expect(run).rejects.toThrow("enough");
});
