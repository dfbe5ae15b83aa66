import {
  type DeviceFinding,
  type FindingSource,
  type FocusSource,
  type FrameSource,
  findingKinds,
  type LogSource,
  type VideoFrame,
} from "@labwright/controllers";
import { describe, expect, it } from "vitest";

const NEVER = new AbortController().signal;

/** A port of an open controller, and what ends the device behind it. `cause` makes the device do what the port reports. */
export type UnderPort<Port> = { port: Port; cause?: () => void | Promise<void>; dispose(): Promise<void> };

type Create<Port> = () => Promise<UnderPort<Port>>;

async function using<Port>(create: Create<Port>, test: (made: UnderPort<Port>) => Promise<void>) {
  const made = await create();
  try {
    await test(made);
  } finally {
    await made.dispose();
  }
}

/** Frames as they come, until there are so many. */
async function collect(port: FrameSource, count: number): Promise<VideoFrame[]> {
  const frames: VideoFrame[] = [];
  const format = { width: 64, height: 64, perSecond: port.perSecond, pixels: "gray" } as const;
  await new Promise<void>((resolve, reject) => {
    const subscription = port.subscribe(format, (frame) => {
      frames.push(frame);
      if (frames.length === count) resolve();
    });
    subscription.ended.then(() => reject(new Error("the source ended")), reject);
  });
  return frames.slice(0, count);
}

/** What the contract promises of the frames of a device that sends them. */
export function frameSourceContract(name: string, create: Create<FrameSource>): void {
  describe(`${name} keeps the contract of a FrameSource`, () => {
    it("gives frames in order, in the size and pixels asked for, in the source's shape", () =>
      using(create, async ({ port }) => {
        const frames = await collect(port, 3);
        const own = port.space();
        for (const { bytes, space, pixels, arrivedAt } of frames) {
          expect(pixels).toBe("gray");
          expect(bytes).toHaveLength(space.width * space.height);
          expect(Math.max(space.width, space.height)).toBeLessThanOrEqual(64);
          expect(space.rotation).toBe(own?.rotation);
          expect(arrivedAt).toBeLessThanOrEqual(performance.now());
        }
        const numbers = frames.map(({ number }) => number);
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        const presented = frames.map(({ presentedMs }) => presentedMs);
        expect(presented).toEqual(presented.toSorted((a, b) => a - b));
      }));

    it("gives the latest as a picture of its own space, and keeps it in the ring", () =>
      using(create, async ({ port }) => {
        const from = performance.now() - 2_000;
        const latest = await port.latest(NEVER);
        const { width, height } = latest;
        expect(port.space()).toMatchObject({ width, height });
        expect(["image/jpeg", "image/png"]).toContain(latest.mimeType);
        expect(port.ring(from).map(({ number }) => number)).toContain(latest.number);
        expect(port.ring(performance.now() + 60_000)).toEqual([]);
      }));

    it("reports a reader that it ended, and the next one too", () =>
      using(create, async ({ port }) => {
        const format = { width: 64, height: 64, perSecond: 1, pixels: "jpeg" } as const;
        const subscription = port.subscribe(format, () => undefined);
        subscription.end();
        await subscription.ended;
        expect(subscription.dropped).toBe(0);
        await collect(port, 1);
      }));
  });
}

/** What the contract promises of a device's own log; `cause` has it write a line. */
export function logSourceContract(name: string, create: Create<LogSource>): void {
  describe(`${name} keeps the contract of a LogSource`, () => {
    it("gives the newest lines, oldest first, those behind a number, and no more than asked for", () =>
      using(create, async ({ port, cause }) => {
        for (let line = 0; line < 3; line++) await cause?.();
        const all = await port.lines({ limit: 1_000 }, NEVER);
        const numbers = all.map(({ seq }) => seq);
        expect(numbers.length).toBeGreaterThanOrEqual(3);
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        for (const { at } of all) expect(new Date(at).toISOString()).toBe(at);
        expect(await port.lines({ limit: 2 }, NEVER)).toEqual(all.slice(-2));
        const last = numbers.at(-1) ?? 0;
        expect(await port.lines({ after: last, limit: 1_000 }, NEVER)).toEqual([]);
        await cause?.();
        const [next] = await port.lines({ after: last, limit: 1_000 }, NEVER);
        expect(next?.seq).toBeGreaterThan(last);
      }));
  });
}

/** What the contract promises of where a remote's input goes. */
export function focusSourceContract(name: string, create: Create<FocusSource>): void {
  describe(`${name} keeps the contract of a FocusSource`, () => {
    it("names what has the focus and what could have it, each with a rect in a space that has a size", () =>
      using(create, async ({ port }) => {
        const { focused, candidates, space } = await port.focus(NEVER);
        expect(space.width * space.height).toBeGreaterThan(0);
        expect(candidates.length).toBeGreaterThan(0);
        for (const { ref, rect } of candidates) expect(rect, ref).toBeDefined();
        expect(candidates.map(({ ref }) => ref)).toContain(focused?.ref);
        expect(focused?.states).toContain("focused");
      }));
  });
}

/** What the contract promises of what goes wrong by itself; `cause` makes it begin. */
export function findingSourceContract(name: string, create: Create<FindingSource>): void {
  describe(`${name} keeps the contract of a FindingSource`, () => {
    it("names kinds that there are, each once", () =>
      using(create, async ({ port }) => {
        expect(new Set(port.kinds).size).toBe(port.kinds.length);
        for (const kind of port.kinds) expect(findingKinds).toContain(kind);
      }));

    it("reports a beginning, reports it at once to who listens later, and nothing to who has left", () =>
      using(create, async ({ port, cause }) => {
        const early: DeviceFinding[] = [];
        const gone: DeviceFinding[] = [];
        const leave = port.onFinding((finding) => gone.push(finding));
        leave();
        const began = new Promise<void>((resolve) => {
          port.onFinding((finding) => {
            early.push(finding);
            resolve();
          });
        });
        await cause?.();
        await began;
        expect(early[0]).toMatchObject({ state: "began" });
        expect(port.kinds).toContain(early[0]?.kind);
        const late = await new Promise<DeviceFinding>((resolve) => port.onFinding(resolve));
        expect(late).toMatchObject({ kind: early[0]?.kind, state: "began" });
        expect(gone).toEqual([]);
      }));
  });
}
