import { fileURLToPath } from "node:url";
import { runBundled } from "../fixtures/runBundled.mjs";

await runBundled(fileURLToPath(new URL("phoneMemory.ts", import.meta.url)));
