// Part of the build: runs the bridge of a folder until its stdin ends, then keeps the code that it came to need.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { loadBridge } from "./loadBridge.js";

const [folder = "", dataDir = ""] = process.argv.slice(2);
const dist = pathToFileURL(`${folder}/`);
const { runMcp, script } = loadBridge(dist);
process.on("exit", () => writeFileSync(new URL("bridge.cache", dist), script.createCachedData()));
runMcp(["--data-dir", dataDir], {});
