import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { measuringCommands } from "../measuring/commands.ts";
import { blockinessCheck } from "./blockiness.ts";
import { blackCheck, motionChecks, streamChecks } from "./checks.ts";
import { RecentPicture } from "./recent.ts";
import { subtitlesCheck } from "./subtitles.ts";

const settings = z.strictObject({});

function videoController(context: ControllerContext): DriverController {
  const recent = new RecentPicture(context);
  return judging({
    kind: "verification_video",
    commands: measuringCommands(context),
    checks: [
      ...motionChecks(recent),
      blackCheck(recent),
      ...streamChecks(recent),
      subtitlesCheck(context, undefined),
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
  offers: () => [videoController(nowhere)],
  create: (_given, context) => [videoController(context)],
});
