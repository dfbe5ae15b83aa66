import { fileURLToPath } from "node:url";
import { runBundled } from "../fixtures/runBundled.mjs";

await runBundled(fileURLToPath(new URL("sound.ts", import.meta.url)));
