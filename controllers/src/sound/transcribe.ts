import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { needFfmpeg } from "../programs/ffmpeg.ts";
import { runProgram } from "../programs/run.ts";

const place = "{file}";
/** Large models take about as long as the sound on a machine without a graphics card. */
const programMs = 240_000;
const ffmpegMs = 60_000;

const programSchema = z
  .array(z.string().max(2_000))
  .min(1)
  .max(50)
  .refine((argv) => argv.some((part) => part.includes(place)), `one argument has ${place} in it`)
  .optional();

/** Programs of the user, with a model of theirs. */
export const speechPrograms = {
  transcribe: programSchema.describe(
    `A program with its arguments that prints what is said: ${place} is a WAV file (16,000 Hz, one channel). Such as [whisper-cli, -m, model.bin, -l, auto, -nt, -np, -f, "${place}"].`,
  ),
  language: programSchema.describe(
    `A program with its arguments that prints the language that is spoken in ${place} as two letters, such as en.`,
  ),
};

/** What is said in a WAV file, in one line. Throws DEVICE_ERROR, COMMAND_TIMEOUT. */
export async function transcript(
  program: readonly string[],
  wav: string,
  signal: AbortSignal,
): Promise<string> {
  return (await said(program, wav, signal)).replaceAll(/\s+/g, " ").trim();
}

/** Two letters of ISO 639-1. Throws DEVICE_ERROR, also for a program that prints anything else; COMMAND_TIMEOUT. */
export async function spokenLanguage(
  program: readonly string[],
  wav: string,
  signal: AbortSignal,
): Promise<string> {
  const printed = (await said(program, wav, signal)).trim().toLowerCase();
  if (/^[a-z]{2}$/.test(printed)) return printed;
  throw new DeviceError(
    "DEVICE_ERROR",
    `${program[0]} printed "${printed.slice(0, 80)}" and not two letters, such as en. Correct controllers.audio.language.`,
  );
}

async function said(
  [file = "", ...args]: readonly string[],
  wav: string,
  signal: AbortSignal,
): Promise<string> {
  const own = args.map((arg) => arg.replaceAll(place, wav));
  const { code, stdout, stderr } = await runProgram(file, own, { signal, timeoutMs: programMs });
  if (code === 0) return stdout;
  const reason = stderr.trim().split("\n").at(-1)?.slice(0, 300) || "it printed no error";
  throw new DeviceError(
    "DEVICE_ERROR",
    `${file} ended with code ${code}: ${reason}. Run it by hand to see why.`,
  );
}

/** Writes the sound of a recording as a WAV file. Throws DEVICE_ERROR for one without sound, COMMAND_TIMEOUT. */
export async function extractSound(recording: string, wav: string, signal: AbortSignal): Promise<void> {
  const { path } = await needFfmpeg(process.env, signal);
  const args = ["-v", "error", "-nostdin", "-y", "-i", recording, "-vn", "-ac", "1", "-ar", "16000", wav];
  const { code, stderr } = await runProgram(path, args, { signal, timeoutMs: ffmpegMs });
  if (code === 0) return;
  throw new DeviceError(
    "DEVICE_ERROR",
    `ffmpeg found no sound in the recording: ${stderr.trim().slice(0, 300)}. Record again with a source that has sound.`,
  );
}
