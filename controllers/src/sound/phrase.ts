import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DeviceError } from "../errors.ts";
import { findProgram, runProgram } from "../programs/run.ts";

export const phraseProgram = "pocketsphinx_continuous";
/** 20 s of sound take some 5 s; its model takes one to load. */
const programMs = 60_000;

/**
 * Whether an English phrase is said in a WAV file, by a grammar of that phrase alone, which is written next to the file. Throws
 * DEVICE_ERROR where it cannot be judged, and why; COMMAND_TIMEOUT.
 */
export async function hearsPhrase(wav: string, phrase: string, signal: AbortSignal): Promise<boolean> {
  const program = findProgram(phraseProgram);
  if (program === undefined)
    throw cannot(`${phraseProgram} is not installed. Run: apt install pocketsphinx pocketsphinx-en-us`);
  const words = phrase.toLowerCase().match(/[a-z']+/g) ?? [];
  if (words.length === 0 || /[^\x20-\x7e]|\d/.test(phrase))
    throw cannot("only English words in letters can be recognised; spell out numbers");
  const grammar = join(dirname(wav), "phrase.gram");
  await writeFile(grammar, `#JSGF V1.0;\ngrammar phrase;\npublic <phrase> = ${words.join(" ")};\n`);
  const args = ["-jsgf", grammar, "-infile", wav];
  const { code, stdout, stderr } = await runProgram(program, args, { signal, timeoutMs: programMs });
  const unknown = /The word '([^']+)' is missing in the dictionary/.exec(stderr)?.[1];
  if (unknown !== undefined) throw cannot(`"${unknown}" is not in the dictionary of ${phraseProgram}`);
  if (code !== 0) throw cannot(`${phraseProgram} ended with code ${code}. Install pocketsphinx-en-us.`);
  return stdout.toLowerCase().includes(words.join(" "));
}

const cannot = (message: string) => new DeviceError("DEVICE_ERROR", message);
