import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import type { ClipboardPort } from "../../phones/system.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { AndroidSession } from "../session.ts";

/** The helper app that reads it is installed first, once. */
const readMs = 60_000;

/** What a client put there is taken away before the next one. */
export function createClipboard({ backend, changes }: AndroidSession): ClipboardPort {
  const put = async (content: string, signal: AbortSignal) => {
    const session = await backend.session(signal);
    const body = { content, contentType: "plaintext" };
    await session.ask("POST", "/appium/device/set_clipboard", body, { signal });
  };
  return {
    note: " Since Android 10 this installs Appium's settings app on it, once.",
    async write(content, text, signal) {
      // Without a session nothing can be done, and it is not worth opening one.
      changes.remember("clipboard", async (own) => {
        if (backend.findSession()) await put("", own).catch(() => own.throwIfAborted());
      });
      await sendInput(() => put(content, signal)).catch(refuse("take"));
      return `put ${text.length} characters on the clipboard`;
    },
    async read(signal) {
      const session = await backend.session(signal);
      return session.clipboard({ signal, timeoutMs: readMs }).catch(refuse("give"));
    },
  };
}

/** Without the driver's own words, which may hold the text. */
const refuse = (what: string) => (error: unknown) => {
  if (!(error instanceof DriverRefusal)) throw error;
  const message = `The device did not ${what} the text of its clipboard. See whether its screen is unlocked.`;
  throw new DeviceError("DEVICE_ERROR", message, {}, { cause: error });
};
