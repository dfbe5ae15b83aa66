import { FrameHub, type PushedFrame, type VideoFrame } from "@labwright/controllers";
import sharp from "sharp";
import { describe, expect, it } from "vitest";

const NEVER = new AbortController().signal;
const upright = { width: 64, height: 36, rotation: 0 } as const;

const grey = (level: number, presentedMs: number): PushedFrame => ({
  bytes: new Uint8Array(upright.width * upright.height * 3).fill(level),
  pixels: "rgb",
  space: upright,
  presentedMs,
});

async function jpegOf({ bytes, ...rest }: PushedFrame): Promise<PushedFrame> {
  const raw = { width: rest.space.width, height: rest.space.height, channels: 3 } as const;
  return { ...rest, pixels: "jpeg", bytes: await sharp(bytes, { raw }).jpeg().toBuffer() };
}

/** A reader whose frames can be waited for. */
function collector() {
  const frames: VideoFrame[] = [];
  let wake = (): void => undefined;
  return {
    frames,
    read(frame: VideoFrame) {
      frames.push(frame);
      wake();
    },
    async until(count: number) {
      while (frames.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
  };
}

const small = { width: 32, height: 32, perSecond: 25, pixels: "gray" } as const;

describe("A hub of frames", () => {
  it("gives each reader its size and pixels, in order, with the numbers and times of the source", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const gray = collector();
    const jpeg = collector();
    hub.subscribe(small, gray.read);
    hub.subscribe({ ...small, width: 640, height: 360, pixels: "jpeg" }, jpeg.read);
    for (const n of [0, 1, 2]) hub.push(grey(60 * n, 1_000 + 40 * n));
    await gray.until(3);
    await jpeg.until(3);
    expect(gray.frames.map(({ number, presentedMs }) => [number, presentedMs])).toEqual([
      [1, 1_000],
      [2, 1_040],
      [3, 1_080],
    ]);
    expect(gray.frames.map(({ bytes }) => [bytes.length, bytes[0]])).toEqual([
      [32 * 18, 0],
      [32 * 18, 60],
      [32 * 18, 120],
    ]);
    expect(gray.frames[0]?.space).toEqual({ width: 32, height: 18, rotation: 0 });
    expect(jpeg.frames[2]?.space).toEqual(upright);
    const { width, height, format } = await sharp(jpeg.frames[2]?.bytes).metadata();
    expect({ width, height, format }).toEqual({ width: 64, height: 36, format: "jpeg" });
  });

  it("decodes a frame once for all readers, and not at all for one that takes it as it is", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const asItIs = collector();
    const frame = await jpegOf(grey(90, 0));
    hub.subscribe({ ...upright, perSecond: 25, pixels: "jpeg" }, asItIs.read);
    hub.push(frame);
    await asItIs.until(1);
    expect(asItIs.frames[0]?.bytes).toBe(frame.bytes);
    expect(hub.decoded).toBe(0);

    const readers = [small, small, { ...small, pixels: "rgb" as const }, { ...small, width: 16 }];
    const collectors = readers.map((format) => {
      const one = collector();
      hub.subscribe(format, one.read);
      return one;
    });
    hub.push({ ...frame, presentedMs: 40 });
    for (const one of collectors) await one.until(1);
    expect(hub.decoded).toBe(1);
    expect(collectors[0]?.frames[0]).toBe(collectors[1]?.frames[0]);
    expect(collectors[2]?.frames[0]?.bytes).toHaveLength(32 * 18 * 3);
  });

  it("loses frames of a slow reader only, gives it the newest next, and counts the lost ones", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const quick = collector();
    const slow = collector();
    let free = (): void => undefined;
    const blocked = new Promise<void>((resolve) => {
      free = resolve;
    });
    hub.subscribe(small, quick.read);
    const subscription = hub.subscribe(small, (frame) => {
      slow.read(frame);
      return blocked;
    });
    for (let n = 1; n <= 8; n++) {
      hub.push(grey(n, n * 40));
      await quick.until(n);
    }
    expect(slow.frames.map(({ number }) => number)).toEqual([1]);
    free();
    await slow.until(2);
    expect(slow.frames.map(({ number }) => number)).toEqual([1, 8]);
    expect(subscription.dropped).toBe(6);
  });

  it("gives a reader the newest frame when the source is faster than the machine", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const { frames, read, until } = collector();
    const subscription = hub.subscribe(small, read);
    for (let n = 1; n <= 100; n++) hub.push(grey(n, n * 40));
    while (frames.at(-1)?.number !== 100) await until(frames.length + 1);
    expect(frames.length + subscription.dropped).toBe(100);
    const numbers = frames.map(({ number }) => number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it("gives no more than was asked for a second, also behind a pause", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const all = collector();
    const few = collector();
    hub.subscribe(small, all.read);
    hub.subscribe({ ...small, perSecond: 10 }, few.read);
    let pushed = 0;
    const second = async (startMs: number) => {
      for (let n = 0; n < 25; n++) {
        hub.push(grey(n, startMs + n * 40 + (n % 2 ? 3 : -3)));
        await all.until(++pushed);
      }
    };
    await second(0);
    expect(few.frames).toHaveLength(10);
    await second(60_000);
    expect(few.frames).toHaveLength(20);
  });

  it("goes on when the source begins anew with a clock of its own", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const { frames, read, until } = collector();
    hub.subscribe(small, read);
    for (const at of [90_000, 90_040, 0, 40]) hub.push(grey(1, at));
    await until(4);
    expect(frames.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  it("keeps the last seconds within its bytes", () => {
    const { length } = grey(0, 0).bytes;
    const hub = new FrameHub({ perSecond: 25, ring: { seconds: 1, bytes: length * 3 } });
    for (let n = 0; n < 5; n++) hub.push({ ...grey(n, n), arrivedAt: 1_000 + n * 100 });
    expect(hub.ring(0).map(({ number }) => number)).toEqual([3, 4, 5]);
    expect(hub.ring(1_400).map(({ number }) => number)).toEqual([5]);
    hub.push({ ...grey(9, 9), arrivedAt: 2_350 });
    expect(hub.ring(0).map(({ number }) => number)).toEqual([5, 6]);
  });

  it("gives the newest frame as a picture, waits for the first, and refuses one that is old", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const waiting = hub.latest(NEVER);
    hub.push(grey(10, 0));
    hub.push(grey(200, 40));
    const first = await waiting;
    expect(first).toMatchObject({ ...upright, mimeType: "image/jpeg", number: 2 });
    const { dominant } = await sharp(first.bytes).stats();
    expect(dominant.r).toBeGreaterThan(150);

    hub.push({ ...grey(10, 80), arrivedAt: performance.now() - 2_100 });
    await expect(hub.latest(NEVER)).rejects.toMatchObject({ code: "DEVICE_ERROR" });
    const cancelled = AbortSignal.abort(new Error("cancelled by the test"));
    await expect(new FrameHub({ perSecond: 25 }).latest(cancelled)).rejects.toThrow("cancelled");
  });

  it("ends its subscriptions with the source, and takes nothing afterwards", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const { frames, read } = collector();
    const subscription = hub.subscribe(small, read);
    const waiting = hub.latest(NEVER);
    hub.push(grey(1, 0));
    hub.end();
    await subscription.ended;
    await expect(waiting).rejects.toMatchObject({ code: "DEVICE_ERROR" });
    hub.push(grey(2, 40));
    expect(hub.ring(0)).toEqual([]);
    expect(hub.space()).toBeUndefined();
    await hub.subscribe(small, read).ended;
    expect(frames).toEqual([]);
  });

  it("ends the subscription of a reader that throws, with what it threw, and no other", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const good = collector();
    hub.subscribe(small, good.read);
    const bad = hub.subscribe(small, () => {
      throw new Error("the reader broke");
    });
    hub.push(grey(1, 0));
    await expect(bad.ended).rejects.toThrow("the reader broke");
    hub.push(grey(2, 40));
    await good.until(2);
  });

  it("leaves out a frame that cannot be decoded, and counts it as lost", async () => {
    const hub = new FrameHub({ perSecond: 25 });
    const { frames, read, until } = collector();
    const subscription = hub.subscribe(small, read);
    hub.push({ ...grey(1, 0), pixels: "jpeg", bytes: Uint8Array.of(0xff, 0xd8, 1, 2) });
    hub.push(grey(2, 40));
    await until(1);
    expect(frames[0]?.number).toBe(2);
    expect(subscription.dropped).toBe(1);
  });
});
