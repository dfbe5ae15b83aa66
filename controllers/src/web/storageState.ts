import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { BrowserContext } from "playwright-core";
import { z } from "zod";
import { DeviceError } from "../errors.ts";
import type { StorageState } from "./session.ts";

type StateSource = Pick<BrowserContext, "storageState">;

const IDLE_MS = 250;
const EVERY_MS = 1_000;

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

/** Throws PATH_DENIED for a file that is not there, DEVICE_ERROR for one that is no storage state. */
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

/**
 * Keeps what a restart of the browser gets back. Reads it when the device has been idle for a moment after a change,
 * at most once a second, so that no command waits for it; what the last second before a crash changed may be lost.
 */
export class StateKeeper {
  #kept: StorageState | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #readAt = Number.NEGATIVE_INFINITY;

  kept(): StorageState | undefined {
    return this.#kept;
  }

  noteChange(context: StateSource, isIdle: () => boolean): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(IDLE_MS, this.#readAt + EVERY_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (isIdle() && !this.#reading) void this.#read(context);
      else this.noteChange(context, isIdle);
    }, wait);
    this.#timer.unref();
  }

  /** From here on this is what a restart gets back. */
  keep(state: StorageState | undefined): void {
    this.stop();
    this.#kept = state;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #read(context: StateSource): Promise<void> {
    this.#reading = true;
    const before = this.#kept;
    try {
      const state = await context.storageState();
      if (this.#kept === before) this.#kept = state;
    } catch {
      // The context closed meanwhile; what was kept before stands.
    } finally {
      this.#reading = false;
      this.#readAt = performance.now();
    }
  }
}
