import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { type Cloud, longestReason, whyNoVerdict } from "../cloud.ts";
import type { Preset } from "../presets.ts";

const name = "mark_session";
const input = z.strictObject({
  status: z.enum(["passed", "failed"]),
  reason: z.string().max(longestReason).default(""),
});

export function verdictCommands(cloud: Cloud): Command[] {
  return [
    defineCommand<typeof input>({
      name,
      description:
        "Reports to the device cloud whether the test passed, instead of the verdict that each test case reports at its end.",
      effect: "write",
      input,
      async run(verdict, signal) {
        await cloud.mark(verdict, signal);
        return { message: `reported to the cloud that the test ${verdict.status}` };
      },
    }),
  ];
}

export function withheldVerdict(preset: Preset | undefined): Withheld[] {
  const reason = whyNoVerdict(preset);
  return reason === undefined ? [] : [{ name, reason }];
}
