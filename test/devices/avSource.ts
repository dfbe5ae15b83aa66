import { type ChildProcess, spawn } from "node:child_process";
import { serve } from "../fixtures/loopback.ts";

/** What a publisher shows, in seconds: a picture that moves, but for what is on cue. */
export type Cues = {
  size?: string;
  seconds: number;
  black?: readonly [number, number];
  freeze?: readonly [number, number];
  silence?: readonly [number, number];
  hasSound?: boolean;
};

const between = (of: readonly [number, number] | undefined) =>
  of ? `between(t,${of[0] - 0.001},${of[1] - 0.021})` : "0";

/** Arguments of ffmpeg that make such a picture, as H.264 in MPEG-TS in real time. */
function publisherArguments({
  size = "640x360",
  seconds,
  black,
  freeze,
  silence,
  hasSound = true,
}: Cues): string[] {
  const picture = [
    `testsrc2=s=${size}:r=25:d=${seconds}`,
    // What is left out is filled with the picture before it.
    `select='not(${between(freeze)})'`,
    "fps=25",
  ];
  const sound = `sine=f=440:r=48000:d=${seconds},volume=0:enable='${between(silence)}'`;
  return [
    ...["-v", "error", "-re", "-f", "lavfi", "-i", picture.join(",")],
    ...(hasSound ? ["-re", "-f", "lavfi", "-i", sound, "-c:a", "mp2"] : []),
    ...["-vf", `drawbox=c=black:t=fill:enable='${between(black)}'`],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "25", "-pix_fmt", "yuv420p"],
    ...["-f", "mpegts", "-flush_packets", "1", "pipe:1"],
  ];
}

/**
 * A stream over HTTP. Each client gets the pictures of `playlist`, one after another in one stream, and then nothing more.
 * `clients` counts those so far; `darken` makes what all of them see black, or no longer.
 */
export async function publishHttp(playlist: readonly Cues[]) {
  const children = new Set<ChildProcess>();
  let clients = 0;
  const site = await serve((_request, response) => {
    clients++;
    response.writeHead(200, { "content-type": "video/mp2t" });
    const play = (at: number) => {
      const cues = playlist[at];
      if (!cues || response.destroyed) return;
      const child = spawn("ffmpeg", publisherArguments(cues), { stdio: ["pipe", "pipe", "ignore"] });
      children.add(child);
      response.once("close", () => child.kill("SIGKILL"));
      child.stdout.pipe(response, { end: false });
      child.once("exit", () => {
        children.delete(child);
        play(at + 1);
      });
    };
    play(0);
  });
  return {
    url: `${site.url}/live.ts`,
    clients: () => clients,
    darken(isDark: boolean) {
      // A command of ffmpeg's console: to a filter, now.
      for (const { stdin } of children) stdin?.write(`cdrawbox -1 enable ${Number(isDark)}\n`);
    },
    async close() {
      for (const child of children) child.kill("SIGKILL");
      await site.close();
    },
  };
}
