import { expect, it } from "vitest";
import { createWatching, type LivePicture } from "#mcp-server/services/devices/screen/watching.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";

/** A screen that shows a new picture at each capture while it `changes`. */
function startScreen() {
  const clock = fakeClock();
  const screen = { captures: 0, changes: true, isBroken: false };
  let shown = 0;
  const capture = async (): Promise<LivePicture> => {
    screen.captures += 1;
    if (screen.isBroken) throw new Error("the screen is gone");
    if (screen.changes) shown += 1;
    return { bytes: Buffer.from(`picture ${shown}`), mimeType: "image/jpeg" };
  };
  const watch = createWatching(clock);
  const join = () => {
    const seen: string[] = [];
    const subscription = watch("lab/box", capture).subscribe(({ bytes }) =>
      seen.push(Buffer.from(bytes).toString()),
    );
    return { seen, ...subscription };
  };
  return { clock, screen, join };
}

it("takes at most 5 pictures a second for 20 viewers together, and none when the last has left", async () => {
  const { clock, screen, join } = startScreen();
  const viewers = Array.from({ length: 20 }, join);
  for (let at = 0; at < 10; at++) await clock.advance(100);
  expect(screen.captures).toBeGreaterThanOrEqual(5);
  expect(screen.captures).toBeLessThanOrEqual(6);
  for (const { seen } of viewers) expect(seen).toEqual(viewers[0]?.seen);
  for (const { end, ended } of viewers) {
    end();
    await ended;
  }
  const before = screen.captures;
  await clock.advance(5_000);
  expect(screen.captures).toBe(before);
  expect(clock.waiting()).toBe(0);
  // Someone who comes later is shown pictures again.
  const late = join();
  await clock.advance(1);
  expect(late.seen).toHaveLength(1);
  late.end();
});

it("sends a picture that stands still once, and asks less often for it", async () => {
  const { clock, screen, join } = startScreen();
  screen.changes = false;
  const { seen, end } = join();
  for (let at = 0; at < 50; at++) await clock.advance(100);
  expect(seen).toHaveLength(1);
  expect(screen.captures).toBeLessThan(18);
  screen.changes = true;
  for (let at = 0; at < 4; at++) await clock.advance(100);
  expect(seen.length).toBeGreaterThan(1);
  end();
});

it("survives some failures, and ends for its viewers after five in a row", async () => {
  const { clock, screen, join } = startScreen();
  const { seen, ended } = join();
  await clock.advance(1);
  screen.isBroken = true;
  for (let at = 0; at < 3; at++) await clock.advance(1_000);
  screen.isBroken = false;
  await clock.advance(1_000);
  const before = seen.length;
  expect(before).toBeGreaterThan(1);
  screen.isBroken = true;
  for (let at = 0; at < 8; at++) await clock.advance(1_000);
  await ended;
  const captures = screen.captures;
  await clock.advance(5_000);
  expect(screen.captures).toBe(captures);
});
