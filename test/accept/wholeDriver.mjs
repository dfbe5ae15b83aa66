import { fileURLToPath } from "node:url";
import { runBundled } from "../fixtures/runBundled.mjs";

await runBundled(fileURLToPath(new URL("wholeDriver.ts", import.meta.url)));
