import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { packageFolder } from "../storage/engine/packageFolder.ts";

const catalogueSchema = z.object({ version: z.string() });

/** The version of this build, also in the bundle for Claude Desktop, which lies in folders of its own. */
export function version(): string {
  const file = join(packageFolder(), "dist", "catalogue.json");
  return catalogueSchema.parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
