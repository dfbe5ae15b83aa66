import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const unavailable = z
  .array(z.strictObject({ what: z.string(), needs: z.string(), reason: z.string() }))
  .parse(JSON.parse(readFileSync(here("unavailable.json"), "utf8")));

/** Brings the build up to date, since tests of processes run it; quick when nothing changed. */
export function setup(): void {
  execFileSync(process.execPath, [here("../mcp-server/build.mjs")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Says at the end of each run what no run here can test. */
export function teardown(): void {
  const names = unavailable.map(({ what }) => what).join(", ");
  process.stdout.write(
    `\nNot to be had here: ${unavailable.length} (${names}); reasons in test/unavailable.json\n`,
  );
}
