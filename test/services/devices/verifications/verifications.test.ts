import {
  type Check,
  DeviceError,
  type DriverController,
  defineCheck,
  defineCommand,
  defineFactory,
  type Frame,
  FrameHub,
  type Judges,
  type Reading,
  type ReadOptions,
} from "@labwright/controllers";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Verification } from "#mcp-server/domain/index.ts";
import { createInputs, type Inputs } from "#mcp-server/services/devices/inputs.ts";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import type { ScreenService } from "#mcp-server/services/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { noInputs, openBox, testSecrets } from "../../../fixtures/simulated.ts";
import { noScreen } from "../parts.ts";

const signal = new AbortController().signal;
const picture: ScreenService = {
  ...noScreen,
  capture: async () => ({
    frame: { mimeType: "image/png", bytes: new Uint8Array(1), width: 1, height: 1, rotation: 0, takenAt: "" },
    artifact: { uri: "artifact://abc", sha256: "abc", mime_type: "image/png", bytes: 1 },
  }),
  store: async ({ bytes }) => ({
    ...{ uri: `artifact://judged-${bytes.length}`, sha256: "def", mime_type: "image/jpeg" },
    bytes: bytes.length,
  }),
};
const service = (clock = systemClock, inputs: Pick<Inputs, "latest"> = noInputs) =>
  createVerifications({ clock, secrets: testSecrets({ PIN: "9876" }), screen: picture, inputs });
const check = (
  command: string,
  params: Verification["params"],
  more: Partial<Verification> = {},
): Verification => ({ command, params, ...more });
const options = { passCondition: "all", timeoutMs: 0, signal } as const;

/** A device whose one check gives the readings of a script, the last for ever. */
const scriptedTwo = (ready: Partial<Reading>, other: boolean) =>
  boxOf([readingAs("ready", async () => ready), readingAs("other", async () => ({ holds: other }))]);

const readingAs = (name: string, read: () => Promise<Partial<Reading>>) =>
  defineCheck({
    ...{ name, description: name, input: z.strictObject({}) },
    judges: () => "subject",
    read: async () => ({ holds: false, expected: name, actual: "not yet", ...(await read()) }),
  });

type Script = readonly (boolean | DeviceError | Partial<Reading>)[];
const scriptedBox = (script: Script, kind: Judges = "subject") => boxOf([scriptedCheck(script, [], kind)]);

function scriptedCheck(script: Script, looked: ReadOptions[] = [], kind: Judges = "subject") {
  let looks = 0;
  const read = async (_input: unknown, _signal: AbortSignal, look: ReadOptions = {}): Promise<Reading> => {
    looked.push(look);
    const next = script[Math.min(looks, script.length - 1)];
    looks += 1;
    if (next instanceof DeviceError) throw next;
    return {
      holds: next === true,
      expected: "ready",
      actual: next === true ? "ready" : "not yet",
      nearest: ["nearly"],
      ...(typeof next === "object" && next),
    };
  };
  const offer = { name: "ready", description: "It is ready", input: z.strictObject({}) };
  return defineCheck({ ...offer, judges: () => kind, read });
}

const boxOf = (checks: readonly Check[], frames?: FrameHub) =>
  openBox({ factories: [factoryOf(checks, frames && { frames })] });

function factoryOf(checks: readonly Check[], more: Partial<DriverController> = {}) {
  const controller: DriverController = {
    kind: "verification_text",
    commands: [],
    checks,
    open: async () => {},
    close: async () => {},
    isAlive: () => true,
    noticesAfter: () => [],
    ...more,
  };
  return defineFactory({
    name: "simulated",
    kinds: ["verification_text"],
    settings: z.unknown(),
    offers: () => [],
    create: () => [controller],
  });
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

test("the opposite of a check needs its subject: only a check of presence passes without it", async () => {
  const not = async (reading: Partial<Reading>, kind: Judges) =>
    service().check(await scriptedBox([reading], kind), [check("ready", {}, { negate: true })], options);
  const absent = { missing: "absent", actual: "nothing matches" } as const;
  expect(await not(absent, "subject")).toMatchObject({
    pass: false,
    verdicts: [{ pass: false, expected: "not: ready", nearest: ["nearly"] }],
    failure: { code: "VERIFICATION_FAILED", message: expect.stringContaining("nothing matches") },
  });
  expect(await not(absent, "presence")).toMatchObject({ pass: true });
  expect(await not({ missing: "unclear" }, "subject")).toMatchObject({ pass: false });
  expect(await not({ missing: "unclear" }, "presence")).toMatchObject({ pass: false });
  expect(await not({}, "subject")).toMatchObject({ pass: true });
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

test("polling ends at the deadline, after a last reading", async () => {
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

const unsure = { holds: false, inconclusive: "the picture is too dark" };
const shown: Frame = {
  ...{ width: 2, height: 1, rotation: 0, mimeType: "image/jpeg", takenAt: "" },
  bytes: new Uint8Array(7),
};

test.each([{}, { negate: true }])("an inconclusive check neither passes nor fails, %j", async (more) => {
  const box = await scriptedBox([unsure]);
  const report = await service().check(box, [check("ready", {}, more)], { ...options, evidence: false });
  expect(report).toMatchObject({
    pass: false,
    inconclusive: expect.stringContaining("the picture is too dark"),
    verdicts: [{ pass: false, inconclusive: "the picture is too dark" }],
    failure: { code: "CHECK_INCONCLUSIVE", command: "ready", found: "the picture is too dark" },
  });
});

test("a check that is inconclusive at first is polled on, and decides when it can", async () => {
  const within = { ...options, timeoutMs: 2_000, evidence: false };
  const passed = await service().check(
    await scriptedBox([unsure, unsure, true]),
    [check("ready", {})],
    within,
  );
  expect(passed).toMatchObject({ pass: true, verdicts: [{ attempts: 3 }] });
  expect(passed.verdicts[0]?.inconclusive).toBeUndefined();
  const short = { ...within, timeoutMs: 100 };
  const failed = await service().check(await scriptedBox([unsure, false]), [check("ready", {})], short);
  expect(failed.failure?.code).toBe("VERIFICATION_FAILED");
  expect(failed.inconclusive).toBeUndefined();
});

test("of several checks an inconclusive one decides only where the others leave it open", async () => {
  const box = await scriptedTwo(unsure, false);
  const both = [check("ready", {}), check("other", {})];
  const run = (passCondition: "all" | "any", checks = both) =>
    service().check(box, checks, { ...options, passCondition, evidence: false });
  expect((await run("all")).failure?.code).toBe("VERIFICATION_FAILED");
  expect((await run("any")).failure?.code).toBe("CHECK_INCONCLUSIVE");
  const [first = check("ready", {})] = both;
  const passing = [first, check("other", {}, { negate: true })];
  expect((await run("all", passing)).failure?.code).toBe("CHECK_INCONCLUSIVE");
  expect((await run("any", passing)).pass).toBe(true);
});

test("score and area are in the verdict, and what was judged is its first evidence", async () => {
  const area = { x: 1, y: 0, width: 1, height: 1 };
  const seen = { score: 0.4, area, pictures: [shown] };
  const failed = await service().check(
    await scriptedBox([{ holds: false, ...seen }]),
    [check("ready", {})],
    options,
  );
  expect(failed.verdicts).toMatchObject([
    { score: 0.4, area, evidence: ["artifact://judged-7", "artifact://abc"] },
  ]);
  const passed = await service().check(
    await scriptedBox([{ holds: true, ...seen }]),
    [check("ready", {})],
    options,
  );
  expect(passed.verdicts).toMatchObject([{ score: 0.4, area, evidence: ["artifact://judged-7"] }]);
});

/** The scripted check next to a command `press` whose last input event left at the time of its parameter, else at an unknown time. */
async function pressedBox(inputs: Inputs, script: readonly boolean[], looked: ReadOptions[]) {
  const press = defineCommand({
    ...{
      name: "press",
      description: "Press",
      effect: "write",
      input: z.object({ sentAt: z.number().optional() }),
    },
    run: async ({ sentAt }) => ({ message: "pressed", ...(sentAt !== undefined && { sentAt }) }),
  });
  const factory = factoryOf([scriptedCheck(script, looked)], { commands: [press] });
  const box = await openBox({ factories: [inputs.noting(factory)] });
  const [pressed] = box.controllers.flatMap(({ commands }) => commands);
  return { box, press: (params: { sentAt?: number } = {}) => pressed?.run(params, signal) };
}

test("a check reads from its first snapshot on, or from the last input if that is later", async () => {
  const looked: ReadOptions[] = [];
  const inputs = createInputs(systemClock);
  const { box, press } = await pressedBox(inputs, [false, false, true], looked);
  await press({ sentAt: 1 });
  const before = performance.now();
  const run = service(systemClock, inputs).check(box, [check("ready", {})], { ...options, timeoutMs: 2_000 });
  while (looked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const sentAt = performance.now();
  await press({ sentAt });
  await run;
  expect(looked[0]?.since).toBeGreaterThanOrEqual(before);
  expect(looked[0]?.since).toBeLessThanOrEqual(sentAt);
  expect(looked.at(-1)?.since).toBe(sentAt);
});

test("an input counts from its end where the time of sending is unknown, and for its own device only", async () => {
  const looked: ReadOptions[] = [];
  const inputs = createInputs({ monotonic: () => 1_000_000_000 });
  const { box, press } = await pressedBox(inputs, [true], looked);
  await press();
  await service(systemClock, inputs).check(box, [check("ready", {})], options);
  expect(looked[0]?.since).toBe(1_000_000_000);
  const other = await openBox({ names: ["other"], factories: [factoryOf([scriptedCheck([true], looked)])] });
  await service(systemClock, inputs).check(other, [check("ready", {})], options);
  expect(looked[1]?.since).toBeLessThanOrEqual(performance.now());
});

/** True of a frame that is bright. */
const isBright = defineCheck({
  ...{ name: "bright", description: "The screen is bright", input: z.strictObject({}), byPicture: true },
  judges: () => "subject",
  read: async (_input, _signal, { frame } = {}) => ({
    holds: (frame?.bytes[0] ?? 0) > 128,
    expected: "bright",
    actual: "dark",
  }),
});

const pixel = { pixels: "gray", space: { width: 1, height: 1, rotation: 0 } } as const;

test("a time by frames ends with the first frame that shows it, off by the interval of the frames", async () => {
  const hub = new FrameHub({ perSecond: 25 });
  const box = await boxOf([isBright], hub);
  const from = performance.now() - 400;
  const push = (n: number, level: number) =>
    hub.push({ ...pixel, bytes: Uint8Array.of(level), presentedMs: n * 40, arrivedAt: from + n * 40 });
  for (const n of [-2, -1]) push(n, 255);
  for (const n of [0, 1, 2]) push(n, 0);
  for (const n of [3, 4]) push(n, 255);
  const within = { from, timeoutMs: 500, signal };
  const seen = await service().firstFrame(box, [check("bright", {})], within);
  expect(seen).toMatchObject({ measured: true, first: { at: from + 120, errorMs: 40 } });
  const gone = await service().firstFrame(box, [check("bright", {}, { negate: true })], within);
  expect(gone).toMatchObject({ measured: true, first: { at: from, errorMs: 40 } });
});

test("a time by frames waits for the frame that shows it, states a gap of the frames, and ends with its time", async () => {
  const hub = new FrameHub({ perSecond: 100 });
  const box = await boxOf([isBright], hub);
  const from = performance.now();
  const push = (at: number, level: number) =>
    hub.push({ ...pixel, bytes: Uint8Array.of(level), presentedMs: at, arrivedAt: from + at });
  push(0, 0);
  const waiting = service().firstFrame(box, [check("bright", {})], { from, timeoutMs: 5_000, signal });
  setImmediate(() => push(70, 255));
  expect(await waiting).toMatchObject({ measured: true, first: { at: from + 70, errorMs: 70 } });
  const none = { from: from + 71, timeoutMs: 50, signal };
  expect(await service().firstFrame(box, [check("bright", {})], none)).toEqual({
    measured: true,
    first: undefined,
  });
});

test("no time is measured by frames without frames, or by a check that judges more than a picture", async () => {
  const within = { from: 0, timeoutMs: 50, signal };
  const without = await service().firstFrame(await boxOf([isBright]), [check("bright", {})], within);
  const hub = new FrameHub({ perSecond: 25 });
  const more = await boxOf([readingAs("ready", async () => ({ holds: true }))], hub);
  expect([without, await service().firstFrame(more, [check("ready", {})], within)]).toEqual([
    { measured: false },
    { measured: false },
  ]);
});
