import { sendInput } from "../../dispatch.ts";
import { DeviceError } from "../../errors.ts";
import type { ClipboardPort } from "../../phones/system.ts";
import { atMost } from "../../waiting/deadlines.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { SessionCall } from "../driver/session.ts";
import type { AndroidSession } from "../session.ts";

/** The helper app that reads it is installed first, once. */
const readMs = 60_000;

/** How long the next client waits for it to be emptied. A session that opens meanwhile is used by the next attempt. */
const emptyMs = 3_000;

/** A text of one client is removed before the next one drives. */
export function createClipboard({ backend, changes }: AndroidSession): ClipboardPort {
  const put = async (content: string, call: SessionCall) => {
    const session = await backend.session(call.signal);
    const body = { content, contentType: "plaintext" };
    await session.ask("POST", "/appium/device/set_clipboard", body, call);
  };
  const empty = async (signal: AbortSignal) => {
    try {
      await put("", { signal: atMost(signal, emptyMs) });
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  };
  return {
    note: " Since Android 10 this installs Appium's settings app on it, once.",
    async write(content, text, signal) {
      changes.remember("clipboard", empty);
      await sendInput(() => put(content, { signal })).catch(refuse("take"));
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
