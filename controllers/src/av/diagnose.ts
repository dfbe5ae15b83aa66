import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { findFfmpeg, installFfmpeg } from "../programs/ffmpeg.ts";
import { type AvSettings, nodeOf } from "./settings.ts";

/** Why the device node or file cannot be read, and what mends it; undefined where it can. */
export async function sourceProblem(
  settings: AvSettings,
): Promise<{ detail: string; fix: string } | undefined> {
  const path = nodeOf(settings) ?? settings.file;
  if (path === undefined) return undefined;
  const code = await access(path, constants.R_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === undefined) return undefined;
  if (code === "EACCES")
    return {
      detail: `no permission to read ${path}`,
      fix: settings.file
        ? `Let this user read ${path}`
        : "Add this user to the group video (sudo usermod -aG video $USER) and log in again",
    };
  return {
    detail: `${path} is not there`,
    fix: settings.file
      ? "Correct controllers.av.file"
      : "Plug in the capture card; ls /dev/video* lists what is there",
  };
}

/** Looks for ffmpeg and the device node or file; opens neither. */
export async function diagnoseAv(
  settings: AvSettings,
  { env, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const problem = await sourceProblem(settings);
  const source = nodeOf(settings) ?? settings.file;
  const seen: DiagnosisFinding[] =
    source === undefined
      ? []
      : [
          {
            what: "capture source",
            ...(problem ? { status: "missing", ...problem } : { status: "ok", detail: source }),
          },
        ];
  return [await diagnoseFfmpeg(env, signal), ...seen];
}

async function diagnoseFfmpeg(env: DiagnosisContext["env"], signal: AbortSignal): Promise<DiagnosisFinding> {
  const what = "ffmpeg";
  const fix = `Install it: ${installFfmpeg}`;
  try {
    const found = await findFfmpeg(env, signal);
    if (!found) return { what, status: "missing", detail: "no program ffmpeg on the PATH", fix };
    if (!found.isFit)
      return { what, status: "missing", detail: `${found.text} is too old, 5.1 is needed`, fix };
    return { what, status: "ok", detail: found.text };
  } catch (error) {
    return { what, status: "missing", detail: error instanceof Error ? error.message : String(error), fix };
  }
}
