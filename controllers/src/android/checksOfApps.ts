import { z } from "zod";
import { type Check, defineCheck } from "../contract.ts";
import { matches, matchSchema, matchWords, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, ofPresence, ofSubject, untold } from "../elements/readings.ts";
import { fullPermission, packageShape, permissionSchema } from "../screens/appState.ts";
import { commandLine } from "./adb/quote.ts";
import { listApps } from "./apps.ts";
import { packageInUse } from "./commands/apps.ts";
import { sessionsIn } from "./mediaSessions.ts";
import { describePackage, permissionsIn, versionIn } from "./packageDump.ts";
import { processLine, runsIn } from "./processes.ts";
import type { AndroidSession } from "./session.ts";

/** What Android says of an app beside what it shows. */
export function appChecks(session: AndroidSession): Check[] {
  return [
    appInstalled(session),
    appVersion(session),
    appRunning(session),
    permissionGranted(session),
    startUpTime(session),
    memoryBelow(session),
    mediaPlaying(session),
  ];
}

const onlyApp = z.strictObject(packageShape);

/** Undefined where the device does not say. */
async function isRunning({ device }: AndroidSession, id: string, signal: AbortSignal) {
  return runsIn((await device.link().run(processLine, signal)).stdout, id);
}

function appInstalled(session: AndroidSession): Check {
  return defineCheck<typeof onlyApp>({
    name: "app_installed",
    description: "The app is on the device",
    input: onlyApp,
    judges: ofPresence,
    async read(app, signal) {
      const id = packageInUse(session, app);
      const installed = (await listApps(session.device, signal)).map((one) => one.id);
      const holds = installed.includes(id);
      const expected = `${id} is installed`;
      return {
        holds,
        expected,
        actual: holds ? "it is" : "it is not",
        ...(!holds && { missing: "absent" as const }),
        nearest: holds ? [] : nearest(id, installed),
      };
    },
  });
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
      return { holds: matches(match, version, found), expected, actual: quoted(found, version) };
    },
  });
}

function appRunning(session: AndroidSession): Check {
  return defineCheck<typeof onlyApp>({
    name: "app_running",
    description: "The app has a process, in front or not",
    input: onlyApp,
    judges: ofSubject,
    async read(app, signal) {
      const id = packageInUse(session, app);
      const expected = `${id} runs`;
      const holds = await isRunning(session, id, signal);
      if (holds === undefined) return untold(expected, "the device does not list its processes");
      if (!holds && !(await listApps(session.device, signal)).some((one) => one.id === id))
        return absent(expected, "the app is not installed");
      return { holds, expected, actual: holds ? "it runs" : "it does not run" };
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
      if (start === undefined) return untold(expected, "no app was opened yet. Run open_app before");
      if (start.ms === undefined)
        return untold(
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
      if (/No process found/.test(stdout)) return untold(expected, "the app does not run");
      const kilobytes =
        /^\s*TOTAL PSS:\s+([\d,]+)/m.exec(stdout)?.[1] ?? /^\s*TOTAL:?\s+([\d,]+)/m.exec(stdout)?.[1];
      if (kilobytes === undefined) return untold(expected, "the device does not say how much memory it uses");
      const found = Number(kilobytes.replaceAll(",", "")) / 1_024;
      return { holds: found < mb, expected, actual: `${found.toFixed(1)} MB` };
    },
  });
}

function mediaPlaying(session: AndroidSession): Check {
  return defineCheck<typeof onlyApp>({
    name: "media_playing",
    description: "The app plays sound or video, as its media session says",
    input: onlyApp,
    judges: ofSubject,
    async read(app, signal) {
      const id = packageInUse(session, app);
      const expected = `${id} plays`;
      const { stdout } = await session.device
        .link()
        .script(commandLine(["dumpsys", "media_session"]), signal);
      const mine = sessionsIn(stdout).filter((one) => one.packageName === id);
      if (mine.length > 0) {
        const holds = mine.some(({ state }) => state === "playing");
        return {
          holds,
          expected,
          actual: `its media session says: ${mine.map(({ state }) => state).join(", ")}`,
        };
      }
      if ((await isRunning(session, id, signal)) === false) return absent(expected, "the app does not run");
      return untold(expected, "the app has no media session, so Android does not know whether it plays");
    },
  });
}
