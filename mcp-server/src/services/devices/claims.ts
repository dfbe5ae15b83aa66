import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type Controller, type ControllerFactory, DeviceError } from "@labwright/controllers";
import { z } from "zod";
import { type FileLock, lockFile } from "../../storage/engine/lock.ts";
import type { Clock } from "../ports.ts";

export type ClaimOptions = {
  /** Shown to a program that finds the claim held. */
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Pick<Clock, "now">;
};

/**
 * The same driver, whose controllers open only while this daemon holds what their settings claim; it is given back when the
 * last of a device's is closed. Their `open` throws DEVICE_BUSY with the holder. Daemons of other users are not seen.
 */
export function claiming(factory: ControllerFactory, locks: DeviceLocks): ControllerFactory {
  const { claims } = factory;
  if (!claims) return factory;
  return {
    ...factory,
    create(settings, context) {
      const wanted = [...new Set(claims(settings))];
      const controllers = factory.create(settings, context);
      if (wanted.length === 0) return controllers;
      return controllers.map((one) => guarded(one, () => locks.takeAll(context.deviceId, wanted)));
    },
  };
}

function guarded(controller: Controller, lockAll: () => Promise<FileLock[]>): Controller {
  let held: FileLock[] = [];
  const release = async (locks: readonly FileLock[]) => {
    await Promise.all(locks.map((lock) => lock.release()));
  };
  return {
    ...controller,
    isAlive: () => controller.isAlive() && held.length > 0 && held.every(({ lost }) => !lost.aborted),
    async open(signal) {
      const before = held.splice(0);
      held = await lockAll().finally(() => release(before));
      try {
        await controller.open(signal);
      } catch (error) {
        await release(held.splice(0));
        throw error;
      }
    },
    async close() {
      await controller.close();
      await release(held.splice(0));
    },
  };
}

const holderSchema = z.object({ pid: z.int(), data_dir: z.string(), since: z.string() });

/** The locks of this daemon. Several drivers of one device may use one thing together. */
export class DeviceLocks {
  private readonly held = new Map<string, { lock: Promise<FileLock>; users: number }>();

  constructor(private readonly options: ClaimOptions) {}

  /** All of them or none. Throws DEVICE_BUSY. */
  async takeAll(deviceId: string, claims: readonly string[]): Promise<FileLock[]> {
    const taken: FileLock[] = [];
    try {
      for (const claim of claims) taken.push(await this.take(deviceId, claim));
      return taken;
    } catch (error) {
      await Promise.all(taken.map((lock) => lock.release()));
      throw error;
    }
  }

  private async take(deviceId: string, claim: string): Promise<FileLock> {
    const key = JSON.stringify([deviceId, claim]);
    const held = this.held.get(key) ?? { lock: this.lock(claim), users: 0 };
    this.held.set(key, held);
    held.users += 1;
    const release = async () => {
      held.users -= 1;
      if (held.users > 0) return;
      if (this.held.get(key) === held) this.held.delete(key);
      await (await held.lock).release();
    };
    try {
      const { lost } = await held.lock;
      // Who takes it from now on locks it anew.
      lost.addEventListener("abort", () => this.held.get(key) === held && this.held.delete(key));
      return { lost, release };
    } catch (error) {
      this.held.delete(key);
      throw error;
    }
  }

  private async lock(claim: string): Promise<FileLock> {
    const { dataDir, env, clock } = this.options;
    // A setting may hold a secret, so that no claim is written as it stands.
    const name = createHash("sha256").update(claim).digest("hex").slice(0, 32);
    const file = join(await runtimeFolder(env), name);
    const since = new Date(clock.now()).toISOString();
    const lock = await lockFile(file, JSON.stringify({ pid: process.pid, data_dir: dataDir, since }));
    if (lock !== "busy") return lock;
    const text = await readFile(file, "utf8").catch(() => "");
    throw busy(claim, holderSchema.safeParse(parsed(text)).data);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function busy(claim: string, holder: z.output<typeof holderSchema> | undefined): DeviceError {
  if (!holder)
    return new DeviceError(
      "DEVICE_BUSY",
      `${claim} is in use by another process of this user. End that process, then try again.`,
      { claim },
    );
  const { pid, data_dir, since } = holder;
  return new DeviceError(
    "DEVICE_BUSY",
    pid === process.pid
      ? `${claim} is in use by another device of this daemon since ${since}. Use that device, or release it and try again when it was closed.`
      : `${claim} is in use since ${since} by process ${pid}, the daemon of ${data_dir}. Use that daemon, or end it with \`labwright stop --data-dir ${data_dir}\`, then try again.`,
    { claim, pid, data_dir, since },
  );
}

/** The session's folder for running programs, else where a session would have it, else a temporary one of this user. */
async function runtimeFolder(env: ClaimOptions["env"]): Promise<string> {
  const { uid } = userInfo();
  const named = env.XDG_RUNTIME_DIR?.startsWith("/") ? env.XDG_RUNTIME_DIR : `/run/user/${uid}`;
  if (existsSync(named)) return ownFolder(join(named, "labwright"), uid);
  return ownFolder(join(tmpdir(), uid < 0 ? "labwright" : `labwright-${uid}`), uid);
}

/** Any user may make a folder in the temporary folder, so its owner is checked. */
async function ownFolder(folder: string, uid: number): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const isOwn = found.isDirectory() && (uid < 0 || (found.uid === uid && (found.mode & 0o077) === 0));
  if (isOwn) return folder;
  throw new DeviceError(
    "CONTROLLER_UNAVAILABLE",
    `${folder} does not belong to this user alone, so that devices cannot be locked there. Remove it, or set XDG_RUNTIME_DIR to a folder of this user.`,
    { folder },
  );
}
