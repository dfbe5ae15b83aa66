import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { KeyboardPort } from "../../phones/system.ts";
import { sent } from "../../screens/input.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { AndroidFacts } from "../facts.ts";
import { hideKeyboard } from "../inputs.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { readKeyboard } from "../ui/screenFacts.ts";

const hideMs = 3_000;
const lookEveryMs = 150;
const noShade = "A TV has no notifications to pull down. Open its own panel with press_key.";
const shades = {
  open_notifications: {
    description: "Pulls down the notifications.",
    action: "expand-notifications",
    done: "opened the notifications",
  },
  close_notifications: {
    description: "Closes the notifications.",
    action: "collapse",
    done: "closed the notifications",
  },
} as const;

export function createKeyboard(session: AndroidSession): KeyboardPort {
  const isShown = async (signal: AbortSignal) => (await readKeyboard(session.device, signal)) === true;
  return {
    isShown,
    async hide(signal) {
      await sendInputs(session, [hideKeyboard], signal);
      const isHidden = async () => !(await isShown(signal));
      if (await poll(isHidden, { everyMs: lookEveryMs, ms: hideMs, signal })) return;
      throw new DeviceError(
        "DEVICE_ERROR",
        `The keyboard is still shown ${hideMs / 1_000} s after the back key. Go on with it, or leave the field.`,
      );
    },
  };
}

export const notificationCommands = (session: AndroidSession): Command[] =>
  Object.entries(shades).map(([name, { description, action, done }]) =>
    defineCommand({
      name,
      description,
      effect: "write",
      input: z.strictObject({}),
      async run(_input, signal) {
        if (session.device.facts().isTv) throw new DeviceError("DEVICE_ERROR", noShade);
        await sendInputs(session, [["cmd", "statusbar", action]], signal);
        return sent(done);
      },
    }),
  );

export const withheldPanels = ({ isTv }: AndroidFacts): Withheld[] =>
  isTv ? Object.keys(shades).map((name) => ({ name, reason: noShade })) : [];
