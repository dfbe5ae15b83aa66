import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runForBytes, runProgram } from "#controllers/programs/run.ts";
import { cuedStream, verdictOn } from "../../fixtures/cuedStreams.ts";
import { inStreamTime, watchStream } from "../../fixtures/watchedStreams.ts";
import { readClock } from "../../lab/tv/clock.ts";
import { makeResized, makeStream, zapCues } from "../../lab/tv/streams.ts";

const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), "labwright-streams-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [width, height] = [320, 180];

/** What the clock shows in each frame. */
async function clocksOf(file: string): Promise<(number | undefined)[]> {
  const decode = ["-v", "error", "-i", file, "-vf", `scale=${width}:${height}`, "-pix_fmt", "gray"];
  const { stdout } = await runForBytes("ffmpeg", [...decode, "-f", "rawvideo", "-"], {
    signal,
    timeoutMs: 30_000,
  });
  const size = width * height;
  return Array.from({ length: stdout.length / size }, (_, at) =>
    readClock({ bytes: stdout.subarray(at * size, (at + 1) * size), width, height }),
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

describe("a stream of the laboratory", () => {
  let file: string;
  beforeAll(async () => {
    const cues = zapCues(1, { freeze: 0.4, black: 0.6, until: 3, banner: "102 News: 22:30" });
    file = await makeStream(join(folder, "zap.ts"), { seconds: 3, cues, firstNumber: 1_000 });
  });

  it("freezes, is black and goes on at the frame of its cue, and its clock says so", async () => {
    const stands = Array<number>(10).fill(1_025);
    const black = Array<undefined>(15).fill(undefined);
    expect(await clocksOf(file)).toEqual([
      ...range(1_000, 1_025),
      ...stands,
      ...black,
      ...range(1_050, 1_075),
    ]);
  });

  it("is silent from its cue until the next", async () => {
    const args = ["-i", file, "-map", "0:a", "-af", "silencedetect=n=-50dB:d=0.2", "-f", "null", "-"];
    const { stderr } = await runProgram("ffmpeg", args, { signal, timeoutMs: 30_000 });
    const time = (word: string) => Number(new RegExp(`silence_${word}: ([\\d.]+)`).exec(stderr)?.[1]);
    expect(time("start")).toBeCloseTo(1, 1);
    expect(time("end")).toBeCloseTo(2, 1);
  });

  it("changes its size in the middle", async () => {
    const parts = [{ seconds: 1 }, { seconds: 1, width: 320, height: 240, firstNumber: 25 }];
    const resized = await makeResized(join(folder, "resized.ts"), parts);
    expect(await clocksOf(resized)).toEqual(range(0, 50));
  });
});

it("is watched in stream time: each fault of two streams is found in its limit and alerted once, and nothing else", async () => {
  const verdicts = await Promise.all(
    [1, 7].map(async (index) => {
      const stream = await cuedStream(folder, index, { rounds: 1 });
      return verdictOn(stream, await watchStream({ args: ["-i", stream.file] }, inStreamTime()), 1);
    }),
  );
  for (const { missed, wrong } of verdicts) expect({ missed, wrong }).toEqual({ missed: [], wrong: [] });
});
