import { readFileSync } from "node:fs";
import { stringify, parse as yaml } from "yaml";
import { z } from "zod";

const appSchema = z.looseObject({ device: z.string(), name: z.string() });
/** By app and words: the steps of the plan, or a part of the question. */
const setSchema = z.record(z.string(), z.record(z.string(), z.union([z.array(z.string()), z.string()])));
const fileSchema = z.object({ apps: z.array(appSchema), phrasings: setSchema, held_back: setSchema });

/** labwright.yaml of a server for the apps of the file. */
export const phrasingDevices = "devices: [{ name: web, model: web }, { name: box, model: simulated }]";

const planSchema = z.object({
  feasible: z.boolean(),
  analysis: z.string(),
  steps: z.array(
    z.object({
      objective: z.string(),
      command: z.string().optional(),
      params: z.record(z.string(), z.unknown()).optional(),
      negate: z.boolean().optional(),
    }),
  ),
});
type Plan = z.output<typeof planSchema>;

type Client = {
  call(
    name: string,
    args: Record<string, unknown>,
  ): Promise<{ isError: boolean; text: string; structured: Readonly<Record<string, unknown>> | undefined }>;
};

/** `asked`: a question where a plan was expected, or another question. `wrong`: a plan that is not the expected one. */
export type PhrasingRow = { app: string; text: string; verdict: "right" | "asked" | "wrong"; answer: string };

/** Plans every phrasing of a set of `file` by `execute_plan` without running it. */
export async function readPhrasings(
  { call }: Client,
  set: "phrasings" | "held_back",
  path: string | URL = new URL("phrasings.yaml", import.meta.url),
): Promise<PhrasingRow[]> {
  const file = fileSchema.parse(yaml(readFileSync(path, "utf8")));
  const rows: PhrasingRow[] = [];
  for (const { device, ...app } of file.apps) {
    const { name } = app;
    const imported = await call("import_userinterface", { yaml: stringify(app) });
    if (imported.isError && !imported.text.includes("ALREADY_EXISTS")) throw new Error(imported.text);
    for (const [text, expected] of Object.entries(file[set][name] ?? {})) {
      const request = { task: text, userinterface_name: name, device_id: device, run: false };
      const reply = await call("execute_plan", request);
      const plan = planSchema.parse(reply.structured?.plan);
      rows.push({ app: name, text, verdict: verdictOf(plan, expected), answer: answerOf(plan) });
    }
  }
  return rows;
}

function verdictOf(plan: Plan, expected: readonly string[] | string): PhrasingRow["verdict"] {
  if (typeof expected !== "string") {
    if (!plan.feasible) return "asked";
    return answerOf(plan) === expected.join("; ") ? "right" : "wrong";
  }
  if (plan.feasible) return "wrong";
  return plan.analysis.includes(expected) ? "right" : "asked";
}

function answerOf({ feasible, analysis, steps }: Plan): string {
  if (!feasible) return analysis;
  const stepText = ({ objective, command, params = {}, negate }: Plan["steps"][number]) => {
    const values = Object.entries(params).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    return command === undefined ? objective : [negate ? "not" : [], command, values].flat(2).join(" ");
  };
  return steps.map(stepText).join("; ");
}
