import { expect, it } from "vitest";
import { StreamClock } from "#controllers/av/streamClock.ts";

it("takes the frame that was held up least, and is not led astray by one with a damaged time", () => {
  const clock = new StreamClock();
  for (const [seconds, arrivedAt] of [
    [1, 1_050],
    [1.04, 1_060],
    [1.08, 1_140],
  ] as const)
    clock.observe(seconds, arrivedAt);
  expect(clock.momentOf(1.12)).toBeCloseTo(1_140, 0);
  clock.observe(6_944.46, 1_180);
  clock.observe(1.2, 1_220);
  expect(clock.momentOf(1.24)).toBeCloseTo(1_260, 0);
});
