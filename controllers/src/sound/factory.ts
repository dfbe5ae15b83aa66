import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { findProgram } from "../programs/run.ts";
import { soundChecks } from "./checks.ts";
import { phraseProgram } from "./phrase.ts";

const controller = (context: ControllerContext): DriverController =>
  judging({ kind: "verification_audio", commands: [], checks: soundChecks(context) });

/** Checks of the sound of a device whose capture has a `stream`. */
export const audioFactory = defineFactory({
  name: "audio",
  kinds: ["verification_audio"],
  settings: z.strictObject({}),
  offers: () => [controller(nowhere)],
  create: (_settings, context) => [controller(context)],
  async diagnose(_settings, { env }) {
    const what = "recognition of phrases";
    if (findProgram(phraseProgram, { ...env }) !== undefined)
      return [{ what, status: "ok", detail: phraseProgram }];
    const fix = "Run: apt install pocketsphinx pocketsphinx-en-us";
    return [{ what, status: "warning", detail: `${phraseProgram} is not installed`, fix }];
  },
});
