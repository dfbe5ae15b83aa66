import { createHash } from "node:crypto";
import { instructions } from "./instructions.ts";
import type { AnyTool } from "./tool.ts";
import { toWireTool, type WireTool } from "./wire.ts";

/** Which build wrote it. `hash` is of its sources; `at` is ISO 8601 UTC and says which of two builds is newer. */
export type Build = { hash: string; at: string };

/** All that the listings of the protocol need, a pure function of the build; the bridge reads nothing else. */
export type Catalogue = {
  /** Of the package. */
  version: string;
  build: Build;
  /** Hash of the listings themselves. */
  hash: string;
  instructions: string;
  tools: WireTool[];
};

export function buildCatalogue(tools: readonly AnyTool[], version: string, build: Build): Catalogue {
  const wire = tools.map(toWireTool).sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash("sha256")
    .update(JSON.stringify([instructions, wire]))
    .digest("hex")
    .slice(0, 16);
  return { version, build, hash, instructions, tools: wire };
}
