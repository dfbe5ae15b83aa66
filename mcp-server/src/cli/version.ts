import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { packageFolder } from "../storage/packageFolder.ts";

const packageSchema = z.object({ name: z.string(), version: z.string() });

/** The version of the package that people install, whose `package.json` lies above this one's. */
export function version(): string {
  const file = join(dirname(packageFolder()), "package.json");
  return packageSchema.parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
