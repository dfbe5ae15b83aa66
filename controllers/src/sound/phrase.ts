import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DeviceError } from "../errors.ts";
import type { Sound } from "../ports.ts";
import { findProgram, runProgram } from "../programs/run.ts";

export const phraseProgram = "pocketsphinx_continuous";
/** 20 s of sound take some 5 s; its model takes one to load. */
const programMs = 60_000;

/**
 * Whether an English phrase is said, by a grammar of that phrase alone. A text instead of the answer: why it cannot be judged.
 * `folder` is an empty folder for the files of the program. Throws DEVICE_ERROR, COMMAND_TIMEOUT.
 */
export async function hearsPhrase(
  sound: Sound,
  phrase: string,
  folder: string,
  signal: AbortSignal,
): Promise<boolean | string> {
  const program = findProgram(phraseProgram);
  if (program === undefined) return `${phraseProgram} is not installed. Run: apt install pocketsphinx`;
  const words = phrase.toLowerCase().match(/[a-z']+/g) ?? [];
  if (words.length === 0 || /[^\x20-\x7e]|\d/.test(phrase))
    return "only English words in letters can be recognised; spell out numbers";
  const [grammar, raw] = [join(folder, "phrase.gram"), join(folder, "sound.raw")];
  await writeFile(grammar, `#JSGF V1.0;\ngrammar phrase;\npublic <phrase> = ${words.join(" ")};\n`);
  await writeFile(raw, pcm(sound));
  const args = ["-jsgf", grammar, "-infile", raw, "-samprate", "16000"];
  const { code, stdout, stderr } = await runProgram(program, args, { signal, timeoutMs: programMs });
  const unknown = /The word '([^']+)' is missing in the dictionary/.exec(stderr)?.[1];
  if (unknown !== undefined) return `"${unknown}" is not in the dictionary of ${phraseProgram}`;
  if (code !== 0)
    throw new DeviceError(
      "DEVICE_ERROR",
      `${phraseProgram} ended with code ${code}. Install pocketsphinx-en-us.`,
    );
  return stdout.toLowerCase().includes(words.join(" "));
}

/** Signed, 16 bits, little-endian. */
function pcm({ samples }: Sound): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, at) => {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), at * 2);
  });
  return bytes;
}
