import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ffmpeg, makeStream } from "../streams.ts";

export const channelNames = ["Alpha News", "Beta Sports", "Gamma Films"] as const;

/** The clock of channel 1 goes from 10,000, that of channel 2 from 20,000: `Math.floor(clock / 10_000)` is the channel. */
const numbersEach = 10_000;
const roundSeconds = 8;
/** A channel lasts 5 minutes: its round, again and again, and so its clock. */
const rounds = 40;
const encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "36", "-pix_fmt", "yuv420p"];

/**
 * Writes a clip for each channel and a playlist of them. None has sound: without a sound card, Kodi stops playing what has. `folder`
 * is a new one, since Kodi keeps what it once read of a folder.
 */
export async function makeChannels(folder: string): Promise<{ playlist: string; media: string }> {
  const media = join(folder, "clips");
  await mkdir(media, { recursive: true });
  const files = channelNames.map((name) => join(media, `${name}.ts`));
  await Promise.all(
    channelNames.map(async (name, at) => {
      const round = join(folder, `${at}.ts`);
      await makeStream(round, {
        seconds: roundSeconds,
        sound: false,
        ...{ width: 480, height: 270 },
        firstNumber: (at + 1) * numbersEach,
        clock: "upper",
        encoder,
        cues: [
          { kind: "banner", text: name, place: "middle", from: 0, to: roundSeconds },
          ...(at % 2 === 1 ? [{ kind: "other" as const, from: 0, to: roundSeconds }] : []),
        ],
      });
      const loop = ["-stream_loop", `${rounds - 1}`, "-i", round];
      await ffmpeg([...loop, "-c", "copy", `${files[at]}`]);
    }),
  );
  const entries = channelNames.map((name, at) => `#EXTINF:-1 tvg-chno="${at + 1}",${name}\n${files[at]}`);
  const playlist = join(folder, "channels.m3u");
  await writeFile(playlist, `#EXTM3U\n${entries.join("\n")}\n`);
  return { playlist, media };
}
