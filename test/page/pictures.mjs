// npm run pictures: makes docs/pictures.
import { fileURLToPath } from "node:url";
import { runBundled } from "../fixtures/runBundled.mjs";

process.env.LABWRIGHT_BROWSER_SANDBOX = "optional";
await runBundled(fileURLToPath(new URL("takePictures.ts", import.meta.url)));
