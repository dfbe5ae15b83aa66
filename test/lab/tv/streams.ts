import { readFile, rm, writeFile } from "node:fs/promises";
import { runProgram } from "#controllers/programs/run.ts";
import { type ClockPlace, clockFilter } from "./clock.ts";

/**
 * What happens in a stream from one second to another, on the stream's own clock. `black` and `freeze` are of the whole picture, the
 * clock in it included. `other` is another picture, as another channel shows it; `banner` is a text over the lower part, or
 * right of the middle, where the banners of a set-top box leave it free.
 */
export type Cue = { from: number; to: number } & (
  | { kind: "black" | "freeze" | "silence" | "other" }
  | { kind: "tone"; hz: number }
  | { kind: "banner"; text: string; place?: "low" | "middle" }
);

export type StreamSpec = {
  seconds: number;
  cues?: readonly Cue[];
  /** 640 times 360 unless said. */
  width?: number;
  height?: number;
  /** 25 unless said. */
  fps?: number;
  /** A tone of 440 Hz, unless this is false. */
  sound?: boolean;
  /** What the clock shows in the first frame; 0 unless said. */
  firstNumber?: number;
  /** The bottom unless said. A clock hides how little else moves. */
  clock?: ClockPlace | "none";
  /** A source of pictures of ffmpeg with its own options; testsrc2 unless said. */
  source?: string;
  /** Filters behind the source, such as a darker picture. */
  filters?: string;
  /** Options of ffmpeg for the pictures; H.264 unless said. */
  encoder?: readonly string[];
};

const timeoutMs = 60_000;
const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", "-pix_fmt", "yuv420p"];
const font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
const usualHz = 440;
/** Keyframes a second, so that a reader may begin anywhere. */
const keyframes = 2;

/** The cues of a change of channels at a second: the old picture stands, then black, then the other one with its banner. */
export function zapCues(
  at: number,
  { freeze, black, until, banner }: { freeze: number; black: number; until: number; banner?: string },
): Cue[] {
  const shown = at + freeze + black;
  return [
    ...(freeze > 0 ? [{ kind: "freeze" as const, from: at, to: at + freeze }] : []),
    ...(black > 0 ? [{ kind: "black" as const, from: at + freeze, to: shown }] : []),
    { kind: "other", from: shown, to: until },
    { kind: "silence", from: at, to: shown },
    ...(banner === undefined ? [] : [{ kind: "banner" as const, text: banner, from: shown, to: until }]),
  ];
}

/** Writes a stream to a file, whose ending says its format. Its pictures move, and have the clock of `clock.ts`. */
export async function makeStream(
  file: string,
  spec: StreamSpec,
  output: readonly string[] = [],
): Promise<string> {
  const { fps = 25, sound = true, encoder = h264 } = spec;
  await ffmpeg([
    ...["-filter_complex", [picture(spec), ...(sound ? [soundOf(spec)] : [])].join(";")],
    ...["-map", "[v]", ...(sound ? ["-map", "[a]", "-c:a", "aac"] : [])],
    ...[...encoder, "-g", `${Math.round(fps / keyframes)}`],
    ...["-t", `${spec.seconds}`, ...output, file],
  ]);
  return file;
}

/** Writes an MPEG transport stream whose picture changes its size: its parts follow each other without a gap in time. */
export async function makeResized(file: string, parts: readonly StreamSpec[]): Promise<string> {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const [index, part] of parts.entries()) {
    const piece = `${file}.${index}.ts`;
    await makeStream(piece, part, ["-output_ts_offset", `${start}`]);
    pieces.push(await readFile(piece));
    await rm(piece);
    start += part.seconds;
  }
  await writeFile(file, Buffer.concat(pieces));
  return file;
}

const quiet = ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"];

/** Throws with what ffmpeg said when it failed. */
export async function ffmpeg(args: readonly string[]): Promise<void> {
  const { signal } = new AbortController();
  const { code, stderr } = await runProgram("ffmpeg", [...quiet, ...args], { signal, timeoutMs });
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${stderr.slice(0, 2_000)}`);
}

function picture({
  width = 640,
  height = 360,
  fps = 25,
  cues = [],
  firstNumber = 0,
  clock: place = "bottom",
  source = "testsrc2",
  filters,
}: StreamSpec): string {
  // Half a frame early, so that rounding moves no edge.
  const early = 0.5 / fps;
  const within = ({ from, to }: Cue) => `gte(t,${from - early})*lt(t,${to - early})`;
  const when = (kind: Cue["kind"]) => {
    const found = cues.filter((cue) => cue.kind === kind).map(within);
    return found.length > 0 ? found.join("+") : undefined;
  };
  const [other, black] = [when("other"), when("black")];
  const banners = cues.flatMap((cue) => (cue.kind === "banner" ? [bannerFilter(cue, within(cue))] : []));
  // The picture of the frame at `from` stands: those after it are left out, and `fps` fills the gap with it.
  const still = cues.flatMap((cue) =>
    cue.kind === "freeze" ? [`gte(t,${cue.from + early})*lt(t,${cue.to - early})`] : [],
  );
  const drawn = [
    // Without an end, since the filter `fps` leaves out the last frame: ffmpeg cuts it.
    `${source}${source.includes("=") ? ":" : "="}size=${width}x${height}:rate=${fps}`,
    ...(filters ? [filters] : []),
    ...(other ? [`hue=h=150:enable='${other}',hflip=enable='${other}'`] : []),
    ...banners,
  ];
  const after = [
    ...(black ? [`drawbox=color=black:t=fill:enable='${black}'`] : []),
    ...(still.length > 0 ? [`select='not(${still.join("+")})',fps=${fps}`] : []),
    "format=yuv420p",
  ];
  if (place === "none") return `${[...drawn, ...after].join(",")}[v]`;
  const clock = clockFilter(
    { from: "drawn", to: "timed" },
    { width, height, fps, first: firstNumber, place },
  );
  return `${drawn.join(",")}[drawn];${clock};[timed]${after.join(",")}[v]`;
}

const bannerPlaces = { low: { x: 0, y: 0.68, width: 1 }, middle: { x: 0.5, y: 0.45, width: 0.5 } };

function bannerFilter(
  { text, place = "low" }: { text: string; place?: keyof typeof bannerPlaces },
  enable: string,
): string {
  const escaped = text.replaceAll(/[^\w\s.,:-]/g, "").replaceAll(":", "\\:");
  const { x, y, width } = bannerPlaces[place];
  const box = `drawbox=x=iw*${x}:y=ih*${y}:w=iw*${width}:h=ih*0.2:color=0x102040:t=fill:enable='${enable}'`;
  const at = `fontsize=h/12:x=w*${x + 0.05}:y=h*${y + 0.06}`;
  return `${box},drawtext=fontfile=${font}:text='${escaped}':fontcolor=white:${at}:enable='${enable}'`;
}

function soundOf({ cues = [], seconds }: StreamSpec): string {
  const within = ({ from, to }: Cue) => `gte(t,${from})*lt(t,${to})`;
  const hz = cues.reduce<string>(
    (rest, cue) => (cue.kind === "tone" ? `if(${within(cue)},${cue.hz},${rest})` : rest),
    `${usualHz}`,
  );
  const silent = cues.filter(({ kind }) => kind === "silence").map(within);
  const volume = silent.length > 0 ? `0.25*not(${silent.join("+")})` : "0.25";
  return `aevalsrc='${volume}*sin(2*PI*t*${hz})':sample_rate=48000:duration=${seconds}[a]`;
}
