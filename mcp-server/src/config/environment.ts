import { nearest } from "@labwright/controllers";
import { z } from "zod";
import type { Environment } from "./places.ts";
import { secretVariablePrefix } from "./secretPlaceholder.ts";
import type { Problem } from "./source.ts";

export const logLevelSchema = z.enum(["trace", "debug", "info", "warn", "error", "silent"]);
export type LogLevel = z.output<typeof logLevelSchema>;

const portSchema = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number")
  .transform(Number)
  .pipe(z.int().min(0).max(65_535));

/** Every `LABWRIGHT_*` there is, of bridge and daemon together; and the others that the daemon reads. */
const variables = {
  LABWRIGHT_DATA_DIR: z.string(),
  LABWRIGHT_CONFIG: z.string(),
  LABWRIGHT_SKILLS: z.string(),
  LABWRIGHT_TOOLS: z.string(),
  LABWRIGHT_EXCLUDE_TOOLS: z.string(),
  LABWRIGHT_READ_ONLY: z.string(),
  LABWRIGHT_LOG_LEVEL: logLevelSchema,
  LABWRIGHT_PORT: portSchema,
  LABWRIGHT_HOST: z.string().min(1),
  LABWRIGHT_TOKEN: z.string().min(16, "must have at least 16 characters"),
  LABWRIGHT_SKILLS_DIR: z.string(),
  LABWRIGHT_AGENTS_DIR: z.string(),
  /** `optional`: Chromium starts also where it has no sandbox. For the demo and our tests. */
  LABWRIGHT_BROWSER_SANDBOX: z.literal("optional"),
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, "must start with postgresql://"),
} as const;

const environmentSchema = z.object(variables).partial();
export type EnvironmentSettings = z.output<typeof environmentSchema>;

/** Reads what the daemon takes from the environment. An empty variable counts as not set. Adds to `problems`. */
export function readEnvironment(env: Environment, problems: Problem[]): EnvironmentSettings {
  const known = Object.keys(variables);
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith("LABWRIGHT_") || known.includes(name) || name.startsWith(secretVariablePrefix))
      continue;
    if (name === "LABWRIGHT_ENCRYPTION_KEY") {
      problems.push({ file: "environment", path: name, message: "nothing is encrypted with it; unset it" });
      continue;
    }
    const [best] = nearest(name, [...known, `${secretVariablePrefix}<NAME>`], 1);
    const offer = best === undefined ? "unset it" : `did you mean ${best}?`;
    problems.push({ file: "environment", path: name, message: `unknown variable; ${offer}` });
  }
  const set = Object.fromEntries(known.filter((name) => env[name]).map((name) => [name, env[name]]));
  const parsed = environmentSchema.safeParse(set);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    problems.push({ file: "environment", path: issue.path.join("."), message: issue.message });
  }
  return {};
}
