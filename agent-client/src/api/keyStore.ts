import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { KeyStore } from "./deps.ts";

/**
 * Keeps one key in `file`, which only its owner may read. It is replaced as a whole: who reads gets the old one or the new
 * one.
 */
export function fileKeyStore(file: string, tryKey: KeyStore["try"]): KeyStore {
  return {
    try: tryKey,
    async save(key) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const draft = `${file}.${randomBytes(6).toString("hex")}`;
      try {
        await writeWhole(draft, `${key}\n`);
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}

async function writeWhole(file: string, text: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
