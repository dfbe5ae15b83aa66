import { type Command, defineCommand } from "../../contract.ts";
import { orNearest } from "../../elements/failures.ts";
import { nearest } from "../../elements/nearest.ts";
import { DeviceError } from "../../errors.ts";
import { appStateOffers, fullPermission } from "../../screens/appState.ts";
import { sent } from "../../screens/hand.ts";
import { describePackage, permissionsIn } from "../packageDump.ts";
import type { AndroidSession } from "../session.ts";
import { mustBeInstalled, packageInUse } from "./apps.ts";

/** Clearing the data of a large app takes longer than other calls. */
const clearMs = 60_000;

/** The data and permissions of installed apps. */
export function appStateCommands(session: AndroidSession): Command[] {
  return [clearApp(session), changePermission(session, "grant"), changePermission(session, "revoke")];
}

function clearApp(session: AndroidSession): Command {
  const { device, reader } = session;
  return defineCommand({
    ...appStateOffers.clear_app,
    async run(app, signal) {
      const id = packageInUse(session, app);
      const cleared = await device.link().run(["pm", "clear", id], signal, { timeoutMs: clearMs });
      reader.driven();
      if (/^Success/m.test(cleared.stdout)) return sent(`cleared the data of ${id}`);
      await mustBeInstalled(device, id, signal);
      throw new DeviceError(
        "DEVICE_ERROR",
        `The data of ${id} was not deleted: ${saidBy(cleared)}. Some makers require "USB debugging (Security settings)" in the developer options; else uninstall and install the app.`,
      );
    },
  });
}

function changePermission(session: AndroidSession, change: "grant" | "revoke"): Command {
  const { device, reader } = session;
  const done = change === "grant" ? "granted" : "revoked";
  return defineCommand({
    ...appStateOffers[`${change}_permission`],
    async run({ permission, ...app }, signal) {
      const id = packageInUse(session, app);
      const name = fullPermission(permission);
      const changed = await device.link().run(["pm", change, id, name], signal);
      reader.driven();
      const said = saidBy(changed);
      if (changed.code === 0 && !/Exception|Operation not allowed/.test(said)) return sent(`${done} ${name}`);
      await mustBeInstalled(device, id, signal);
      const asked = permissionsIn(await describePackage(device, id, signal)).map((one) => one.name);
      const near = asked.includes(name) ? "" : orNearest(nearest(name, asked));
      throw new DeviceError(
        "ACTION_REJECTED",
        `${name} of ${id} was not ${done}: ${said}. Only permissions that the app requests and that a user can give are changed${near}`,
      );
    },
  });
}

const saidBy = ({ stdout, stderr }: { stdout: string; stderr: string }): string =>
  `${stdout}\n${stderr}`.trim().replace(/\s+/g, " ").slice(0, 300) || "the device said nothing";
