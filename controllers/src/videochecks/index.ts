import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { measuringCommands } from "../measuring/commands.ts";
import { languagesSchema } from "../vision/textChecks.ts";
import { blockinessCheck } from "./blockiness.ts";
import { blackCheck, motionChecks, streamChecks } from "./checks.ts";
import { RecentPicture } from "./recent.ts";
import { subtitlesCheck } from "./subtitles.ts";

const settings = z.strictObject({
  languages: languagesSchema.describe(
    "Of banners and subtitles, such as eng, fra, deu, spa. Each one more costs as much time.",
  ),
});

function videoController(
  { languages }: z.output<typeof settings>,
  context: ControllerContext,
): DriverController {
  const recent = new RecentPicture(context);
  return judging({
    kind: "verification_video",
    commands: measuringCommands(context, languages),
    checks: [
      ...motionChecks(recent),
      blackCheck(recent),
      ...streamChecks(recent),
      subtitlesCheck(context, languages),
      blockinessCheck(context),
    ],
    close: () => recent.close(),
  });
}

/** Checks and measurements of the running picture of a device, whichever of its controllers sends the frames. */
export const videoFactory = defineFactory({
  name: "video",
  kinds: ["verification_video"],
  settings,
  diagnose: async () => [],
  offers: () => [videoController(settings.parse({}), nowhere)],
  create: (given, context) => [videoController(given, context)],
});
