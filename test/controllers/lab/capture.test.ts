import type { VideoFrame } from "@labwright/controllers";
import { simulatedCaptureFactory, simulatedFactory } from "@labwright/controllers/lab";
import { expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { controllerContract } from "../contract.ts";
import { frameSourceContract } from "../ports.ts";

const never = new AbortController().signal;

/** The number burnt into the top left of a gray picture of half size: 32 squares of 8 pixels, one a bit, the highest first. */
const readBurnt = (pixels: Uint8Array, width: number) =>
  Array.from({ length: 32 }, (_, bit) => pixels[2 * width + Math.floor((bit + 0.5) * 4)] ?? 0).reduce(
    (value, light) => value * 2 + Number(light > 127),
    0,
  );

/** A box and what looks at it, in one device's context. */
function make(settings: object = {}) {
  const context = controllerContext("lab/box");
  const given = simulatedCaptureFactory.settings.parse({ frames_per_second: 50, ...settings });
  const [av] = simulatedCaptureFactory.create(given, context);
  const [remote] = simulatedFactory.create(simulatedFactory.settings.parse({}), context);
  if (!av?.frames || !remote) throw new Error("The lab made too few controllers.");
  return { av, frames: av.frames, remote };
}

controllerContract("the simulated capture", async () => ({
  ...{ controller: make().av, factory: simulatedCaptureFactory },
  dispose: async () => {},
}));

frameSourceContract("The simulated capture", async () => {
  const { av, frames } = make();
  await av.open(never);
  return { port: frames, dispose: () => av.close() };
});

it("burns the milliseconds of each frame in, which a frozen box repeats and one without a signal ends", async () => {
  const { av, frames, remote } = make({ width: 1280, height: 720 });
  await Promise.all([av.open(never), remote.open(never)]);
  const fault = async (kind: string, on: boolean) => {
    const command = remote.commands.find(({ name }) => name === "simulate_fault");
    await command?.run(command.input.parse({ kind, on }), never);
  };
  const seen: VideoFrame[] = [];
  const format = { width: 640, height: 360, perSecond: 50, pixels: "gray" } as const;
  const subscription = frames.subscribe(format, (frame) => {
    seen.push(frame);
  });
  await expect.poll(() => seen.length).toBeGreaterThan(4);
  for (const { bytes, presentedMs } of seen) expect(readBurnt(bytes, 640)).toBe(presentedMs);
  expect(new Set(seen.map(({ presentedMs }) => presentedMs)).size).toBe(seen.length);
  await fault("freeze", true);
  const frozenFrom = seen.length + 2;
  await expect.poll(() => seen.length).toBeGreaterThan(frozenFrom + 3);
  expect(new Set(seen.slice(frozenFrom).map(({ bytes }) => readBurnt(bytes, 640))).size).toBe(1);
  await fault("no_signal", true);
  expect(av.status?.()).toMatchObject({ state: "no_signal" });
  await expect
    .poll(() => frames.latest(never).catch(({ code }) => code), { timeout: 5_000 })
    .toBe("DEVICE_ERROR");
  await av.close();
  await subscription.ended;
  await remote.close();
});
