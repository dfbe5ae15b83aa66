import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@labwright/mcp-server";
import { afterAll, expect } from "vitest";
import { z } from "zod";
import { type ConfigOptions, type Environment, loadConfig } from "#mcp-server/config.ts";

/** A folder of a test file's own, which goes with it. `load` writes its labwright.yaml and reads it. */
export function openConfigFolder() {
  const folder = mkdtempSync(join(tmpdir(), "labwright-config-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "labwright.yaml");
  const load = (yaml: string, extra: { env?: Environment; options?: ConfigOptions } = {}) => {
    writeFileSync(file, yaml);
    return loadConfig({
      command: "serve",
      cwd: folder,
      env: { LABWRIGHT_DATA_DIR: join(folder, "data"), ...extra.env },
      options: { config: file, ...extra.options },
    });
  };
  return { folder, file, load };
}

const problemSchema = z.object({
  file: z.string(),
  line: z.number().optional(),
  column: z.number().optional(),
  path: z.string(),
  message: z.string(),
});
const problemsSchema = z.object({ problems: z.array(problemSchema) });

/** What is reported of a configuration that is refused. */
export function problemsOf(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    expect(error.code).toBe("CONFIG_INVALID");
    return { message: error.message, problems: problemsSchema.parse(error.details).problems };
  }
  throw new Error("the configuration was accepted");
}
