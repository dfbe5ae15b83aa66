import { z } from "zod";
import { type Check, defineCheck, type Withheld } from "../contract.ts";
import { matches, matchSchema, matchWords, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, inconclusive, ofSubject } from "../elements/readings.ts";
import { fullPermission, packageShape, permissionSchema } from "../phones/apps.ts";
import { type PhoneState, toastCheck } from "../phones/checks.ts";
import { packageInUse } from "./commands/apps.ts";
import {
  describePackage,
  listApps,
  permissionsIn,
  processLine,
  runsIn,
  sessionsIn,
  versionIn,
} from "./packages.ts";
import type { AndroidSession } from "./session.ts";
import { readDisplay, readFront, readKeyboard } from "./ui/screenFacts.ts";

export const createState = ({ device }: Pick<AndroidSession, "device">): PhoneState => ({
  source: "device",
  front: async (signal) => (await readFront(device, signal))?.packageName,
  async installed(id, signal) {
    const installed = (await listApps(device, signal)).map((one) => one.id);
    return installed.includes(id) ? { holds: true } : { holds: false, near: nearest(id, installed) };
  },
  async runs(id, signal) {
    const runs = await isRunning(device, id, signal);
    const isAbsent = runs === false && !(await listApps(device, signal)).some((one) => one.id === id);
    return isAbsent ? "absent" : runs;
  },
  async orientation(signal) {
    const display = await readDisplay(device, signal);
    if (display === undefined) return undefined;
    return { now: display.height >= display.width ? "portrait" : "landscape", angle: display.rotation };
  },
  isKeyboardShown: (signal) => readKeyboard(device, signal),
});

const isRunning = async (device: AndroidSession["device"], id: string, signal: AbortSignal) =>
  runsIn((await device.link().run(processLine, signal)).stdout, id);

export const androidChecks = (session: AndroidSession): Check[] => [
  appVersion(session),
  permissionGranted(session),
  startUpTime(session),
  memoryBelow(session),
  mediaPlaying(session),
  activityIs(session),
  settingIs(session),
];

export function withheldToasts({ backend }: AndroidSession): Withheld[] {
  const reason = backend.whyNoSession();
  return reason === undefined ? [] : [{ name: toastCheck, reason }];
}

function appVersion(session: AndroidSession): Check {
  const input = z.strictObject({
    version: z.string().min(1).max(200).describe("Its name, such as 1.2.0."),
    match: matchSchema.default("same"),
    ...packageShape,
  });
  return defineCheck<typeof input>({
    name: "app_version",
    description: `The app has this version; ${matchWords}`,
    input,
    judges: ofSubject,
    async read({ version, match, ...app }, signal) {
      const id = packageInUse(session, app);
      const expected = `the version of ${id} ${relation(match)} ${quoted(version)}`;
      const found = versionIn(await describePackage(session.device, id, signal));
      if (found === undefined) return absent(expected, "the app is not installed");
      return { holds: await matches(match, version, found), expected, actual: quoted(found, version) };
    },
  });
}

function permissionGranted(session: AndroidSession): Check {
  const input = z.strictObject({ permission: permissionSchema, ...packageShape });
  return defineCheck<typeof input>({
    name: "permission_granted",
    description: "The app has this permission",
    input,
    judges: ofSubject,
    async read({ permission, ...app }, signal) {
      const id = packageInUse(session, app);
      const name = fullPermission(permission);
      const expected = `${id} has ${name}`;
      const text = await describePackage(session.device, id, signal);
      if (versionIn(text) === undefined) return absent(expected, "the app is not installed");
      const requested = permissionsIn(text);
      const found = requested.find((one) => one.name === name);
      if (found)
        return { holds: found.isGranted, expected, actual: found.isGranted ? "it has" : "it has not" };
      const names = requested.map((one) => one.name);
      return { ...absent(expected, "the app does not request it"), nearest: nearest(name, names) };
    },
  });
}

function startUpTime({ trail }: AndroidSession): Check {
  const input = z.strictObject({ at_most_ms: z.int().min(1).max(600_000) });
  return defineCheck<typeof input>({
    name: "start_up_time",
    description: "The last open_app took at most so long, by Android's own TotalTime",
    input,
    judges: ofSubject,
    async read({ at_most_ms }) {
      const { start } = trail;
      const expected = `at most ${at_most_ms} ms`;
      if (start === undefined) return inconclusive(expected, "no app was opened yet. Run open_app before");
      if (start.ms === undefined)
        return inconclusive(
          expected,
          `${start.id} ran already, or Android gave no time. Run close_app before open_app`,
        );
      const how = start.state === undefined ? "" : `, ${start.state.toLowerCase()} start`;
      return { holds: start.ms <= at_most_ms, expected, actual: `${start.ms} ms (${start.id}${how})` };
    },
  });
}

function memoryBelow(session: AndroidSession): Check {
  const input = z.strictObject({
    mb: z.number().min(1).max(1_000_000).describe("Of 1,024 KB."),
    ...packageShape,
  });
  return defineCheck<typeof input>({
    name: "memory_below",
    description: "The app's main process uses less memory (total PSS) than this",
    input,
    judges: ofSubject,
    async read({ mb, ...app }, signal) {
      const id = packageInUse(session, app);
      const expected = `${id} uses less than ${mb} MB`;
      const { stdout } = await session.device.link().run(["dumpsys", "meminfo", id], signal);
      if (/No process found/.test(stdout)) return inconclusive(expected, "the app does not run");
      const kilobytes =
        /^\s*TOTAL PSS:\s+([\d,]+)/m.exec(stdout)?.[1] ?? /^\s*TOTAL:?\s+([\d,]+)/m.exec(stdout)?.[1];
      if (kilobytes === undefined)
        return inconclusive(expected, "the device does not say how much memory it uses");
      const found = Number(kilobytes.replaceAll(",", "")) / 1_024;
      return { holds: found < mb, expected, actual: `${found.toFixed(1)} MB` };
    },
  });
}

function mediaPlaying(session: AndroidSession): Check {
  const input = z.strictObject(packageShape);
  return defineCheck<typeof input>({
    name: "media_playing",
    description: "The app plays sound or video, as its media session says",
    input,
    judges: ofSubject,
    async read(app, signal) {
      const id = packageInUse(session, app);
      const expected = `${id} plays`;
      const { stdout } = await session.device.link().run(["dumpsys", "media_session"], signal);
      const mine = sessionsIn(stdout).filter((one) => one.packageName === id);
      if (mine.length > 0) {
        const holds = mine.some(({ state }) => state === "playing");
        return {
          holds,
          expected,
          actual: `its media session says: ${mine.map(({ state }) => state).join(", ")}`,
        };
      }
      if ((await isRunning(session.device, id, signal)) === false)
        return absent(expected, "the app does not run");
      return inconclusive(
        expected,
        "the app has no media session, so Android does not know whether it plays",
      );
    },
  });
}

function activityIs({ device }: AndroidSession): Check {
  const input = z.strictObject({
    activity: z
      .string()
      .regex(
        /^(?:[A-Za-z][\w.]*\/)?[.A-Za-z][\w.$]*$/,
        "an activity such as .MainActivity or com.example/.MainActivity",
      )
      .max(400),
  });
  return defineCheck<typeof input>({
    name: "activity_is",
    description: "The activity is in front: .Main of the app in front, or with its package com.example/.Main",
    input,
    judges: ofSubject,
    async read({ activity }, signal) {
      const expected = `${activity} is in front`;
      const front = await readFront(device, signal);
      if (front === undefined || front.packageName === "")
        return inconclusive(expected, "the device does not say which activity is in front");
      const [first = "", second] = activity.split("/");
      const [id, name] = second === undefined ? [front.packageName, first] : [first, second];
      const full = name.startsWith(".") ? `${id}${name}` : name;
      const holds = id === front.packageName && full === front.activity;
      return { holds, expected, actual: `${front.packageName}/${front.activity} is` };
    },
  });
}

function settingIs({ device }: AndroidSession): Check {
  const input = z.strictObject({
    namespace: z.enum(["system", "secure", "global"]),
    name: z.string().regex(/^[A-Za-z][\w.:-]{0,199}$/, "a name such as font_scale"),
    value: z.string().max(1_000),
  });
  return defineCheck<typeof input>({
    name: "setting_is",
    description: "A setting of Android has exactly this value; null for one that is not set",
    input,
    judges: ofSubject,
    async read({ namespace, name, value }, signal) {
      const expected = `${namespace} ${name} is ${quoted(value)}`;
      const { code, stdout } = await device.link().run(["settings", "get", namespace, name], signal);
      if (code !== 0) return inconclusive(expected, "the device does not give this setting");
      const found = stdout.replace(/\r?\n$/, "");
      const isAbsent = found === "null" && value !== "null";
      return {
        holds: found === value,
        expected,
        actual: quoted(found, value),
        ...(isAbsent && { missing: "absent" as const }),
      };
    },
  });
}
