import { DeviceError } from "../../errors.ts";
import type { Seen } from "../../screens/screen.ts";
import { confirmText, type Typing } from "../../screens/textCommands.ts";
import { poll } from "../../waiting/deadlines.ts";
import type { AppiumSession } from "../session.ts";
import { findActive } from "../ui/source.ts";

const msPerCharacter = 100;
/** A field that was touched gets the keyboard within this time. */
const focusMs = 3_000;
const lookEveryMs = 100;

export const createTyping = (session: AppiumSession): Typing => ({
  async replace(field, text, signal) {
    const id = await editing(session, field, signal);
    if (field.element.value)
      await session.reader.send(() => session.device.call("elementClear", [id], signal));
    if (text !== "") await send(session, id, text, signal);
    await confirmText(session.reader, field, text, signal);
  },
  append: async (field, text, signal) => send(session, await editing(session, field, signal), text, signal),
});

async function send(session: AppiumSession, id: string, text: string, signal: AbortSignal): Promise<void> {
  const plain = text.replaceAll("\r\n", "\n");
  const timeoutMs = 30_000 + plain.length * msPerCharacter;
  await session.reader.send(() => session.device.call("elementSendKeys", [id, plain], signal, { timeoutMs }));
}

/** The server's id of the field once it has the keyboard. Throws ELEMENT_NOT_ACTIONABLE when no field has it. */
async function editing(
  session: AppiumSession,
  field: Seen | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (field) await session.input().edit(field, signal);
  let found: string | undefined;
  const isThere = async () => {
    found = await findActive(session.device, signal);
    return found !== undefined;
  };
  await poll(isThere, { everyMs: lookEveryMs, ms: focusMs, signal });
  if (found !== undefined) return found;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "No field has the keyboard. Click the field, and see whether something covers it.",
  );
}
