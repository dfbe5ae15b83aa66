import { readFile } from "node:fs/promises";
import { startProgram } from "#controllers/programs/run.ts";
import { readClock } from "./clock.ts";

/** What the clock of a display showed, by an ffmpeg of its own: `at` is a reading of `performance.now()`. */
export type ClockReading = { at: number; clock: number | undefined };

/** The strip of the clock that begins at 0.3 of the height, as it is kept; a picture that has it is this large. */
const kept = { width: 160, height: 8 };
const picture = { width: 160, height: 90, stripAt: 27 };
const perSecond = 50;

/**
 * Records the clock in the upper part of a display of 1280 x 720, 50 times a second, into `file`: independent of what the
 * product sees. `readings` ends it and returns what it read, oldest first.
 */
export function recordClock(display: string, file: string) {
  const program = startProgram("ffmpeg", [
    ...["-nostdin", "-hide_banner", "-nostats", "-loglevel", "info", "-copyts"],
    ...["-f", "x11grab", "-draw_mouse", "0", "-framerate", `${perSecond}`],
    ...["-grab_x", "0", "-grab_y", "216", "-video_size", "1280x60", "-i", display],
    ...[
      "-vf",
      `scale=${kept.width}:${kept.height}:flags=area,format=gray,showinfo`,
      "-fps_mode",
      "passthrough",
    ],
    ...["-f", "rawvideo", "-y", file],
  ]);
  const { child } = program;
  child.stdout?.resume();
  let said = "";
  child.stderr?.on("data", (part: Buffer) => {
    said += part.toString();
  });
  return {
    end: () => program.end(),
    async readings(): Promise<ClockReading[]> {
      await program.end();
      // ffmpeg stamps the frames of a display by the wall clock, in µs.
      const times = [...said.matchAll(/ n: *\d+ pts: *(\d+) /g)].map(
        ([, pts]) => Number(pts) / 1e3 - performance.timeOrigin,
      );
      const bytes = await readFile(file);
      const size = kept.width * kept.height;
      return times
        .slice(0, Math.floor(bytes.length / size))
        .map((at, place) => ({ at, clock: clockOf(bytes.subarray(place * size, (place + 1) * size)) }));
    },
  };
}

function clockOf(strip: Uint8Array): number | undefined {
  const { width, height, stripAt } = picture;
  const bytes = new Uint8Array(width * height);
  bytes.set(strip, stripAt * width);
  return readClock({ bytes, width, height }, "upper");
}
