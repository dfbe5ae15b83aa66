import { z } from "zod";

const checkSchema = z.object({
  command: z.string(),
  params: z.record(z.string(), z.unknown()),
  negate: z.boolean().optional(),
});
export type Check = z.output<typeof checkSchema>;

const stepSchema = checkSchema.extend({
  timeout_ms: z.int().optional(),
  by: z.enum(["person", "tool", "picked"]),
  about: z.string().optional(),
  screen: z.int().optional(),
  arrival: checkSchema.optional(),
  proposals: z.array(checkSchema).default([]),
  remark: z.string().optional(),
});
export type RecordedStep = z.output<typeof stepSchema>;

/** What `read_recording` and `stop_recording` say; `revision` and `pointing` only the first of them. */
export const reportSchema = z.looseObject({
  revision: z.int().default(0),
  ended: z.string().optional(),
  pointing: z.boolean().default(false),
  steps: z.array(stepSchema),
  screens: z.array(z.object({ name: z.string(), check: checkSchema.optional() })),
});
export type Report = z.output<typeof reportSchema>;

/** A check in a few words. */
export function checkText({ command, params, negate }: Check): string {
  const not = negate ? "not " : "";
  const [value] = Object.values(params);
  return `${not}${command.replaceAll("_", " ")} ${JSON.stringify(value ?? "")}`;
}

/** A step in a line. */
export function stepText(step: RecordedStep): string {
  if (step.by === "picked") return `check: ${checkText(step)}`;
  const { selector, to_selector: _, ...values } = step.params;
  const said = Object.values(values).map((value) => JSON.stringify(value));
  const about = step.about ?? (typeof selector === "string" ? selector : "");
  return [step.command.replaceAll("_", " "), about, ...said].filter(Boolean).join(" ");
}
