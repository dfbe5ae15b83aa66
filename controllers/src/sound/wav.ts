import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControllerContext } from "../contract.ts";
import type { Sound } from "../ports.ts";

/** A folder for the files of one piece of work, which is gone afterwards. */
export async function inFolder<T>(
  { temporaryFolder }: Pick<ControllerContext, "temporaryFolder">,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await temporaryFolder();
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has `use` work on a sound as a WAV file, which is gone afterwards. */
export const withWav = <T>(
  sound: Sound,
  context: Pick<ControllerContext, "temporaryFolder">,
  use: (wav: string) => Promise<T>,
): Promise<T> =>
  inFolder(context, async (folder) => {
    const wav = join(folder, "sound.wav");
    await writeFile(wav, wavOf(sound));
    return use(wav);
  });

/** A WAV file of a sound: one channel of 16 bits. */
function wavOf({ samples, perSecond }: Sound): Buffer {
  const [headBytes, sampleBytes] = [44, 2];
  const size = samples.length * sampleBytes;
  const file = Buffer.alloc(headBytes + size);
  file.write("RIFF", 0);
  file.writeUInt32LE(headBytes - 8 + size, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  // PCM, one channel
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(perSecond, 24);
  file.writeUInt32LE(perSecond * sampleBytes, 28);
  file.writeUInt16LE(sampleBytes, 32);
  file.writeUInt16LE(8 * sampleBytes, 34);
  file.write("data", 36);
  file.writeUInt32LE(size, 40);
  samples.forEach((sample, at) => {
    const value = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
    file.writeInt16LE(value, headBytes + at * sampleBytes);
  });
  return file;
}
