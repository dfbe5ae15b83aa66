import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { AndroidSession } from "../session.ts";
import { packageOf } from "./apps.ts";

const timeout = { timeout_ms: z.int().min(1).max(600_000).default(120_000) };
const upload = z.string().min(1).max(500);

/** Apps and files that come from the uploads folder. */
export function fileCommands(session: AndroidSession): Command[] {
  return [installApp(session), uninstallApp(session), pushFile(session)];
}

function installApp({ context, device, reader }: AndroidSession): Command {
  const input = z.strictObject({
    file: upload.describe("Name of an APK in the uploads folder."),
    ...timeout,
  });
  return defineCommand<typeof input>({
    name: "install_app",
    description: "Installs an app, or replaces the version that is there and keeps its data.",
    effect: "write",
    input,
    async run({ file, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      try {
        await device.link().sendFiles((kit) => kit.install(createReadStream(path)), timeout_ms, signal);
      } catch (error) {
        throw error instanceof DeviceError ? error : installFailure(file, error);
      } finally {
        reader.driven();
      }
      return { message: `installed ${basename(path)}` };
    },
  });
}

function uninstallApp({ device, reader }: AndroidSession): Command {
  const input = z.strictObject({ package: z.string().min(1).max(200) });
  return defineCommand<typeof input>({
    name: "uninstall_app",
    description: "Removes an app with its data; does nothing if it is not installed.",
    effect: "write",
    input,
    async run(app, signal) {
      const id = packageOf(app);
      const { stdout, stderr } = await device.link().run(["pm", "uninstall", id], signal);
      reader.driven();
      if (/Success/.test(stdout)) return { message: `uninstalled ${id}` };
      const reason = /Failure \[([^\]]*)\]/.exec(stdout + stderr)?.[1] ?? "";
      if (/not installed|Unknown package|DELETE_FAILED_INTERNAL_ERROR/.test(reason))
        return { message: `${id} was not installed` };
      throw new DeviceError(
        "DEVICE_ERROR",
        `${id} was not removed: ${(reason || stdout + stderr).trim().slice(0, 300)}. Apps of the system cannot be removed.`,
      );
    },
  });
}

function pushFile({ context, device }: AndroidSession): Command {
  const input = z.strictObject({
    file: upload.describe("Name of a file in the uploads folder."),
    to: z
      .string()
      .regex(/^\/[^\0]{1,500}$/, "a path on the device begins with /")
      .optional()
      .describe("Path on the device; /sdcard/Download with the file's name when left out."),
    ...timeout,
  });
  return defineCommand<typeof input>({
    name: "push_file",
    description: "Copies a file to the device.",
    effect: "write",
    input,
    async run({ file, to, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      const target = to ?? `/sdcard/Download/${basename(path)}`;
      try {
        await device.link().sendFiles(
          async (kit) => {
            const transfer = await kit.push(createReadStream(path), target);
            await once(transfer, "end");
          },
          timeout_ms,
          signal,
        );
      } catch (error) {
        throw error instanceof DeviceError ? error : pushFailure(target, error);
      }
      return { message: `copied ${basename(path)} to ${target}` };
    },
  });
}

/** Throws PATH_DENIED, and INVALID_PARAMS where there is no such file. */
async function uploaded(context: AndroidSession["context"], name: string): Promise<string> {
  const path = context.uploadPath(name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  const message = `There is no file ${JSON.stringify(name)} in the uploads folder. Put it there, or correct its name.`;
  throw new DeviceError("INVALID_PARAMS", message);
}

const saidBy = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300);

function installFailure(file: string, error: unknown): DeviceError {
  const isCoded = error instanceof Error && "code" in error && typeof error.code === "string";
  const reason = isCoded ? String(error.code) : saidBy(error);
  if (isFull(reason)) return storageFull(`install ${file}`);
  const message = `${file} was not installed: ${reason}. See what this code of Android means; of another signature, uninstall the app first.`;
  return new DeviceError("INSTALL_FAILED", message, { reason });
}

function pushFailure(target: string, error: unknown): DeviceError {
  if (isFull(saidBy(error))) return storageFull(`write ${target}`);
  return new DeviceError(
    "DEVICE_ERROR",
    `The device did not take ${target}: ${saidBy(error)}. Choose a folder that may be written, such as /sdcard/Download.`,
  );
}

const isFull = (said: string) => /INSUFFICIENT_STORAGE|No space left/i.test(said);

const storageFull = (what: string) =>
  new DeviceError(
    "STORAGE_FULL",
    `The device has no room to ${what}. Remove apps or files from it, and try again.`,
  );
