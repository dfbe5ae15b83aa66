import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { sent } from "../../screens/hand.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { AndroidFacts } from "../facts.ts";
import { hideKeyboard } from "../hand.ts";
import { readKeyboard } from "../keyboard.ts";
import { type AndroidSession, sendInputs } from "../session.ts";

const hideMs = 3_000;
const lookEveryMs = 150;
const noShade = "A TV has no notifications to pull down. Open its own panel with press_key.";
const input = z.strictObject({});
const shades = [
  {
    name: "open_notifications",
    description: "Pulls down the notifications.",
    action: "expand-notifications",
  },
  { name: "close_notifications", description: "Closes the notifications.", action: "collapse" },
] as const;

/** What the system shows above an app: the keyboard and the notifications. */
export function panelCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name: "hide_keyboard",
      description: "Hides the keyboard on the screen; does nothing if none is shown.",
      effect: "write",
      input,
      async run(_input, signal) {
        const isShown = async () => (await readKeyboard(session.device, signal)) === true;
        if (!(await isShown())) return { message: "no keyboard is shown", isNews: true };
        await sendInputs(session, [hideKeyboard], signal);
        const isHidden = async () => !(await isShown());
        if (await poll(isHidden, { everyMs: lookEveryMs, ms: hideMs, signal }))
          return { ...sent("hid the keyboard"), isNews: true };
        throw new DeviceError(
          "DEVICE_ERROR",
          `The keyboard is still shown ${hideMs / 1_000} s after the back key. Go on with it, or leave the field.`,
        );
      },
    }),
    ...shades.map(({ name, description, action }) =>
      defineCommand<typeof input>({
        name,
        description,
        effect: "write",
        input,
        async run(_input, signal) {
          if (session.device.facts().isTv) throw new DeviceError("DEVICE_ERROR", noShade);
          await sendInputs(session, [["cmd", "statusbar", action]], signal);
          return sent(
            name === "open_notifications" ? "opened the notifications" : "closed the notifications",
          );
        },
      }),
    ),
  ];
}

export const withheldPanels = ({ isTv }: AndroidFacts): Withheld[] =>
  isTv ? shades.map(({ name }) => ({ name, reason: noShade })) : [];
