import { dirname, join, relative } from "node:path";
import { packageFolder } from "../../storage/engine/packageFolder.ts";

/** The path from a file to the schema that editors check it by; undefined where the package does not lie in the project. */
export function schemaPath(file: string, kind: "app" | "test", cwd: string): string | undefined {
  const schema = join(packageFolder(), "dist", "schemas", `${kind}.schema.json`);
  if (!schema.startsWith(join(cwd, "node_modules"))) return undefined;
  return relative(dirname(file), schema).replaceAll("\\", "/");
}
