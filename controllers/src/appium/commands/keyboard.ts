import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { sent } from "../../screens/hand.ts";
import { type AppiumParts, type AppiumSession, input } from "../session.ts";

const nothing = z.strictObject({});

/** Throws ELEMENT_NOT_ACTIONABLE where the app gives no way to hide it, as iOS often does. */
export async function hideKeyboard(session: AppiumParts, signal: AbortSignal): Promise<void> {
  try {
    await input(session, () => session.device.mobile("hideKeyboard", {}, signal));
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "DEVICE_ERROR") throw error;
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      "The keyboard did not close: the app offers no key that hides it. Press ENTER, or tap outside the field.",
    );
  }
}

export async function readKeyboard({ device }: Pick<AppiumSession, "device">, signal: AbortSignal) {
  return (await device.call("isKeyboardShown", [], signal)) === true;
}

export function keyboardCommands(session: AppiumSession): Command[] {
  return [
    defineCommand<typeof nothing>({
      name: "hide_keyboard",
      description: "Hides the keyboard; does nothing where none is shown.",
      effect: "write",
      input: nothing,
      async run(_input, signal) {
        if (!(await readKeyboard(session, signal))) return { message: "no keyboard is shown", isNews: true };
        await hideKeyboard(session, signal);
        return { ...sent("hid the keyboard"), isNews: true };
      },
    }),
  ];
}
