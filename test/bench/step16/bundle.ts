import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";

/** What a browser loads to show the page, each file compressed by itself. */
export async function measureBundle({ sides: { root } }: Bench): Promise<Measurement[]> {
  const folder = join(root, "mcp-server/dist/page");
  const found = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  if (files.length === 0) throw new Error(`${folder} is empty`);
  let bytes = 0;
  for (const file of files) bytes += gzipSync(await readFile(file)).length;
  return [{ id: "bundle.page", ours: bytes / 1_000, runs: 1 }];
}
