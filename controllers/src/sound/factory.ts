import { join } from "node:path";
import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import type { DiagnosisFinding } from "../diagnosis.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { findProgram } from "../programs/run.ts";
import { levelChecks } from "./levelChecks.ts";
import { listeningChecks, type SpeechPrograms } from "./listeningChecks.ts";
import { phraseProgram } from "./phrase.ts";
import { speechAddon } from "./speech.ts";
import { extractSound, speechPrograms, spokenLanguage, transcript } from "./transcribe.ts";
import { inFolder } from "./wav.ts";

function controller(programs: SpeechPrograms, context: ControllerContext): DriverController {
  const { transcribe, language } = programs;
  return {
    ...judging({
      kind: "verification_audio",
      commands: [],
      checks: [...levelChecks(context), ...listeningChecks(context, programs)],
    }),
    ...(transcribe && {
      transcriber: {
        transcribe: (recording, signal) =>
          inFolder(context, async (folder) => {
            const wav = join(folder, "sound.wav");
            await extractSound(recording, wav, signal);
            const text = await transcript(transcribe, wav, signal);
            return { text, ...(language && { language: await spokenLanguage(language, wav, signal) }) };
          }),
      },
    }),
  };
}

/** Checks of the sound of a device whose capture has a `stream`. */
export const audioFactory = defineFactory({
  name: "audio",
  kinds: ["verification_audio"],
  settings: z.strictObject(speechPrograms),
  offers: () => [controller({}, nowhere)],
  create: (settings, context) => [controller(settings, context)],
  async diagnose({ transcribe, language }, { env, addons }) {
    const found = (what: string, program: string, fix: string): DiagnosisFinding =>
      findProgram(program, { ...env }) === undefined
        ? { what, status: "warning", detail: `${program} is not installed`, fix }
        : { what, status: "ok", detail: program };
    const state = addons.state(speechAddon);
    const isThere = state === "installed";
    return [
      found("recognition of phrases", phraseProgram, "Run: apt install pocketsphinx pocketsphinx-en-us"),
      {
        ...{ what: `add-on ${speechAddon}`, detail: state, status: isThere ? "ok" : "warning" },
        ...(!isThere && { fix: "Run: labwright setup speech" }),
      },
      ...(transcribe
        ? [found("transcripts", transcribe[0] ?? "", "Correct controllers.audio.transcribe")]
        : []),
      ...(language
        ? [found("spoken language", language[0] ?? "", "Correct controllers.audio.language")]
        : []),
    ];
  },
});
