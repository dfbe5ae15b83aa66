import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { sent } from "../../screens/hand.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { AndroidSession } from "../session.ts";

/** The helper app that reads it is installed first, once. */
const readMs = 60_000;
const mostCharacters = 100_000;

const putInput = z.strictObject({ text: z.string().max(mostCharacters) });
const noInput = z.strictObject({});

export function clipboardCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof putInput>({
      name: "write_clipboard",
      description: "Puts a text on the clipboard of the device.",
      effect: "write",
      input: putInput,
      async run({ text }, signal) {
        await session.clipboard.put(text, signal).catch(refuse("take"));
        return sent(`put ${text.length} characters on the clipboard`);
      },
    }),
    defineCommand<typeof noInput>({
      name: "read_clipboard",
      description:
        "Gives the text on the clipboard of the device as value. Since Android 10 this installs Appium's settings app on it, once.",
      effect: "read",
      input: noInput,
      async run(_input, signal) {
        const driver = await session.backend.session(signal);
        const content = await driver.clipboard({ signal, timeoutMs: readMs }).catch(refuse("give"));
        const text = Buffer.from(content, "base64").toString("utf8").slice(0, mostCharacters);
        return { message: `the clipboard holds ${text.length} characters`, data: { value: text } };
      },
    }),
  ];
}

/** Without the driver's own words, which may hold the text. */
const refuse = (what: string) => (error: unknown) => {
  if (!(error instanceof DriverRefusal)) throw error;
  const message = `The device did not ${what} the text of its clipboard. See whether its screen is unlocked.`;
  throw new DeviceError("DEVICE_ERROR", message, {}, { cause: error });
};
