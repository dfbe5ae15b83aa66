import { DeviceError } from "../errors.ts";
import { findProgram, runProgram } from "./run.ts";

const versionMs = 10_000;
/** The first with `-fps_mode`. */
const oldest = { major: 5, minor: 1 };

/** How to get ffmpeg, for a person. */
export const installFfmpeg = "sudo apt-get install -y ffmpeg (macOS: brew install ffmpeg)";

/** `text` is its version as it says it; builds from Git have no number and are taken as new. */
export type FfmpegVersion = { path: string; text: string; isFit: boolean };

/** The ffmpeg program of the PATH; undefined when there is none. Throws DEVICE_ERROR when it does not run. */
export async function findFfmpeg(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<FfmpegVersion | undefined> {
  const path = findProgram("ffmpeg", env);
  if (path === undefined) return undefined;
  const { stdout, stderr } = await runProgram(path, ["-version"], { signal, timeoutMs: versionMs, env });
  const text = /^ffmpeg version (\S+)/.exec(stdout)?.[1];
  if (text === undefined) {
    const said = (stdout + stderr).trim().slice(0, 200);
    throw new DeviceError(
      "DEVICE_ERROR",
      `${path} says no version of ffmpeg but: ${said}. Install it: ${installFfmpeg}`,
    );
  }
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(text) ?? [];
  const isFit =
    major === undefined ||
    Number(major) > oldest.major ||
    (Number(major) === oldest.major && Number(minor) >= oldest.minor);
  return { path, text, isFit };
}

/** The ffmpeg program of the PATH, if it is new enough. Throws DEVICE_ERROR with how to install it. */
export async function needFfmpeg(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<FfmpegVersion> {
  const found = await findFfmpeg(env, signal);
  if (found?.isFit) return found;
  const what = found ? `ffmpeg ${found.text} is too old (5.1 is needed).` : "There is no program ffmpeg.";
  throw new DeviceError("DEVICE_ERROR", `${what} Install it: ${installFfmpeg}`, { program: "ffmpeg" });
}
