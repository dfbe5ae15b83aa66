import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { copyTime, uploaded, uploadName } from "../../phones/files.ts";
import { listApps } from "../packages.ts";
import type { AndroidSession } from "../session.ts";
import { packageOf } from "./apps.ts";
import { isFull, saidBy, storageFull } from "./files.ts";

/** Installs apps of the uploads folder, and removes them. */
export const installCommands = (session: AndroidSession): Command[] => [
  installApp(session),
  uninstallApp(session),
];

function installApp({ context, device, reader }: AndroidSession): Command {
  const input = z.strictObject({
    file: uploadName.describe("Name of an APK in the uploads folder."),
    ...copyTime,
  });
  return defineCommand<typeof input>({
    name: "install_app",
    description: "Installs an app, or replaces the version that is there and keeps its data.",
    effect: "write",
    input,
    async run({ file, timeout_ms }, signal) {
      const path = await uploaded(context, file);
      try {
        await reader.send(() =>
          device.link().sendFiles((kit) => kit.install(createReadStream(path)), timeout_ms, signal),
        );
      } catch (error) {
        throw error instanceof DeviceError ? error : installFailure(file, error);
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
      const { stdout, stderr } = await reader.send(() => device.link().run(["pm", "uninstall", id], signal));
      const isRemoved = /Success/.test(stdout);
      // The failure is the same for an app that is not there and for one that may not be removed.
      const isThere = (await listApps(device, signal)).some((one) => one.id === id);
      if (!isThere)
        return isRemoved
          ? { message: `uninstalled ${id}` }
          : { message: `${id} was not installed`, isNews: true };
      const said = isRemoved
        ? "only its updates are gone"
        : (/Failure \[([^\]]*)\]/.exec(stdout + stderr)?.[1] ?? (stdout + stderr).trim().slice(0, 300));
      throw new DeviceError(
        "DEVICE_ERROR",
        `${id} was not removed: ${said}. Apps of the system cannot be removed.`,
      );
    },
  });
}

function installFailure(file: string, error: unknown): DeviceError {
  const isCoded = error instanceof Error && "code" in error && typeof error.code === "string";
  const reason = isCoded ? String(error.code) : saidBy(error);
  if (isFull(reason)) return storageFull(`install ${file}`);
  const message = `${file} was not installed: ${reason}. See what this code of Android means; of another signature, uninstall the app first.`;
  return new DeviceError("INSTALL_FAILED", message, { reason });
}
