import { z } from "zod";
import { type Check, defineCheck, type Withheld } from "../contract.ts";
import { quoted } from "../elements/quoted.ts";
import { ofPresence, ofSubject, untold } from "../elements/readings.ts";
import { toastSeen, toastSeenName } from "../screens/toasts.ts";
import { orientationOffer } from "../screens/turning.ts";
import { displayIn, displayLine } from "./display.ts";
import { readKeyboard } from "./keyboard.ts";
import type { AndroidSession } from "./session.ts";
import { readFront } from "./ui/screenFacts.ts";

/** The keyboard, the screen's position, the activity in front, and settings. */
export function deviceChecks(session: AndroidSession): Check[] {
  return [
    keyboardShown(session),
    toastSeen(session.reader),
    orientationIs(session),
    activityIs(session),
    settingIs(session),
  ];
}

function keyboardShown({ device }: AndroidSession): Check {
  const input = z.strictObject({});
  return defineCheck<typeof input>({
    name: "keyboard_shown",
    description: "A keyboard is on the screen",
    input,
    judges: ofPresence,
    async read(_input, signal) {
      const expected = "a keyboard is shown";
      const isShown = await readKeyboard(device, signal);
      if (isShown === undefined)
        return untold(expected, "the device does not say whether a keyboard is shown");
      return { holds: isShown, expected, actual: isShown ? "it is" : "none is" };
    },
  });
}

/** Dumps show no toasts. */
export function withheldToasts({ backend }: AndroidSession): Withheld[] {
  const reason = backend.whyNoSession();
  return reason === undefined ? [] : [{ name: toastSeenName, reason }];
}

function orientationIs({ device }: AndroidSession): Check {
  return defineCheck({
    ...orientationOffer,
    async read({ orientation }, signal) {
      const expected = `the screen is in ${orientation}`;
      const display = displayIn((await device.link().script(displayLine, signal)).stdout);
      if (display === undefined) return untold(expected, "the device does not say how its screen is turned");
      const { width, height, rotation } = display;
      const found = height >= width ? "portrait" : "landscape";
      return { holds: found === orientation, expected, actual: `it is in ${found}, at ${rotation}°` };
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
        return untold(expected, "the device does not say which activity is in front");
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
      if (code !== 0) return untold(expected, "the device does not give this setting");
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
