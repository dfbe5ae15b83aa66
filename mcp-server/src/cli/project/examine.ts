import { z } from "zod";
import { done, type RunConnection } from "../run/connection.ts";
import type { Terminal } from "../terminal.ts";

const examinationSchema = z.looseObject({
  findings: z.array(
    z.object({
      file: z.string(),
      line: z.number(),
      column: z.number(),
      message: z.string(),
      weak: z.boolean().optional(),
    }),
  ),
  apps: z.number(),
  tests: z.number(),
  unchecked: z.number(),
});
export type Examination = z.output<typeof examinationSchema>;
export type Finding = Examination["findings"][number];

/** What the server says against files that belong together; it stores nothing. */
export async function examine(
  files: readonly { file: string; yaml: string }[],
  { call }: Pick<RunConnection, "call">,
  { signal }: Pick<Terminal, "signal">,
): Promise<Examination> {
  const args = { dry_run: { files } };
  return examinationSchema.parse(await done(call("import_userinterface", args, signal)));
}

/** A line as compilers write it, so that editors find the place. */
export const findingText = ({ file, line, column, message, weak }: Finding): string =>
  `${file}:${line}:${column}: ${weak ? "warning" : "error"}: ${message}\n`;
