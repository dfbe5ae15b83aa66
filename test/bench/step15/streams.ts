import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CuedStream, cuedStream, verdictOn } from "../../fixtures/cuedStreams.ts";
import { serve } from "../../fixtures/loopback.ts";
import { inRealTime, inStreamTime, type Watched, watchStream } from "../../fixtures/watchedStreams.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median } from "../statistics.ts";

const rounds = 4;
/** From a cue until it is reported. Of a live stream, its start and way are in it. */
const limitSeconds = { live: 3, streamTime: 1 };

type Note = Pick<Bench, "note">;
type Watch = (stream: CuedStream) => Promise<Watched>;

/** Watches a file as it comes over HTTP in real time, as MPEG-TS. */
const live: Watch = async ({ file }) => {
  let sentFrom = Number.NaN;
  const site = await serve((_request, response) => {
    const input = ["-re", "-stream_loop", `${rounds - 1}`, "-i", file];
    const args = ["-nostdin", "-v", "error", ...input, "-c", "copy", "-f", "mpegts", "pipe:1"];
    const child = spawn("ffmpeg", args, { stdio: ["ignore", "pipe", "ignore"] });
    sentFrom = performance.now();
    response.writeHead(200, { "content-type": "video/mp2t" });
    response.once("close", () => child.kill("SIGKILL"));
    child.stdout.pipe(response);
  });
  try {
    return await watchStream(
      { http: `${site.url}/live.ts` },
      inRealTime(() => sentFrom),
    );
  } finally {
    await site.close();
  }
};

const atOnce: Watch = ({ file }) =>
  watchStream({ args: ["-threads", "1", "-stream_loop", `${rounds - 1}`, "-i", file] }, inStreamTime());

async function measure(
  id: string,
  { count, watch, limit, note }: { count: number; watch: Watch; limit: number } & Note,
): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-streams-"));
  try {
    const streams: CuedStream[] = [];
    for (let index = 0; index < count; index++)
      streams.push(await cuedStream(folder, index, { width: 1_280, height: 720, rounds }));
    const started = performance.now();
    const cpuBefore = process.cpuUsage();
    const watched = await Promise.all(streams.map(watch));
    const seconds = (performance.now() - started) / 1_000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const verdicts = streams.map((stream, at) => verdictOn(stream, watched[at] as Watched, limit));
    const late = verdicts.flatMap((one) => one.late).filter(Number.isFinite);
    const shown = watched.reduce((sum, one) => sum + one.seconds, 0);
    const missed = verdicts.flatMap((one) => one.missed);
    const wrong = verdicts.flatMap((one) => one.wrong);
    for (const line of [...missed, ...wrong].slice(0, 10)) note(`${id}: ${line}`);
    note(
      `${id}: ${count} streams, ${shown.toFixed(0)} s of stream in ${seconds.toFixed(0)} s; ${late.length} cues reported after ${median(late).toFixed(2)} s (median), ${Math.max(...late).toFixed(2)} s at most; ${((user + system) / 1e6 / shown).toFixed(3)} CPU s of this process a stream second`,
    );
    return [
      { id: `${id}.missed`, ours: missed.length, runs: count * rounds },
      { id: `${id}.false`, ours: wrong.length, runs: count * rounds },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Eight live streams in real time. */
export const measureStreams = ({ note }: Note) =>
  measure("streams", { count: 8, watch: live, limit: limitSeconds.live, note });

/** Twelve streams as fast as the machine reads them; what waits for time waits for the streams' own. */
export const measureStreamTime = ({ note }: Note) =>
  measure("streams12", { count: 12, watch: atOnce, limit: limitSeconds.streamTime, note });
