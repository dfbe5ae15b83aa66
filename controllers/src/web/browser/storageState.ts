import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import type { StorageState } from "./session.ts";

const stateSchema: z.ZodType<StorageState> = z.object({
  cookies: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      domain: z.string(),
      path: z.string(),
      expires: z.number(),
      httpOnly: z.boolean(),
      secure: z.boolean(),
      sameSite: z.enum(["Strict", "Lax", "None"]),
    }),
  ),
  origins: z.array(
    z.object({
      origin: z.string(),
      localStorage: z.array(z.object({ name: z.string(), value: z.string() })),
    }),
  ),
});

/** Throws PATH_DENIED for a file that is not there, DEVICE_ERROR for one that is not a storage state. */
export async function readStorageState(path: string, name: string): Promise<StorageState> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const message = `There is no saved storage state "${name}". Save one with save_storage_state first.`;
    throw new DeviceError("PATH_DENIED", message, { name }, { cause: error });
  }
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (error) {
    const message = `The storage state "${name}" cannot be read. Save it again with save_storage_state.`;
    throw new DeviceError("DEVICE_ERROR", message, { name }, { cause: error });
  }
}

/** Whole or not at all, readable by its owner only: it holds sessions. */
export async function writeStorageState(path: string, state: StorageState): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}.part`;
  await writeFile(partial, JSON.stringify(state), { mode: 0o600 });
  await rename(partial, path);
}
