import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { type Preset, verdictScript } from "../presets.ts";
import type { AppiumSession } from "../session.ts";

const name = "mark_session";
const longestReason = 250;
const input = z.strictObject({
  status: z.enum(["passed", "failed"]),
  reason: z.string().max(longestReason).default(""),
});

const noVerdict = "No cloud that can be told a verdict is named by controllers.appium.preset.";

export function verdictCommands({ device }: AppiumSession, preset: Preset | undefined): Command[] {
  return [
    defineCommand<typeof input>({
      name,
      description: "Tells the device cloud whether the test passed, for its own reports.",
      effect: "write",
      input,
      async run({ status, reason }, signal) {
        const script = preset && verdictScript(preset, status, reason);
        if (script === undefined) throw new DeviceError("ACTION_REJECTED", `${noVerdict} Leave it out.`);
        await device.call("executeScript", [script, []], signal);
        return { message: `told the cloud that the test ${status}` };
      },
    }),
  ];
}

export const withheldVerdict = (preset: Preset | undefined): Withheld[] =>
  preset?.verdict === undefined ? [{ name, reason: noVerdict }] : [];
