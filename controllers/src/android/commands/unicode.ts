import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { poll } from "../../waiting/deadlines.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { DriverSession } from "../driver/session.ts";
import type { AndroidSession } from "../session.ts";

/** A field that was tapped has the focus by then. */
const focusMs = 3_000;
const lookEveryMs = 100;
const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const elementSchema = z
  .object({ [elementKey]: z.string() })
  .transform((element) => element[elementKey] ?? "");

/** What `input text` of Android cannot type. */
export const isBeyondKeys = (text: string): boolean => /[^\x20-\x7e\r\n\t]/.test(text);

/** Throws UNICODE_UNSUPPORTED where a text needs the session of the driver and there is none. */
export function demandTypable({ backend }: AndroidSession, text: string): void {
  const why = backend.whyNoSession();
  if (why === undefined || !isBeyondKeys(text)) return;
  throw new DeviceError(
    "UNICODE_UNSUPPORTED",
    `The text has characters that adb alone cannot type: it types ASCII only. ${why}; or choose ASCII characters.`,
  );
}

/**
 * Writes a text into the field that has the focus: replaces its text, or appends to it. Throws
 * INPUT_NOT_TAKEN, UNICODE_UNSUPPORTED for a password that holds something already.
 */
export async function writeByDriver(
  { backend, reader }: AndroidSession,
  { text, replace }: { text: string; replace: boolean },
  signal: AbortSignal,
): Promise<void> {
  const session = await backend.session(signal);
  const id = await focusedField(session, signal);
  if (!replace) await demandReadable(session, id, signal);
  try {
    const body = { elementId: id, text: text.replaceAll("\r\n", "\n"), replace };
    await reader.send(() => session.ask("POST", `/element/${id}/value`, body, { signal }));
  } catch (error) {
    throw error instanceof DriverRefusal ? notTaken(error) : error;
  }
}

async function focusedField(session: DriverSession, signal: AbortSignal): Promise<string> {
  let id = "";
  const isFound = async () => {
    try {
      const found = elementSchema.safeParse(
        await session.ask("GET", "/element/active", undefined, { signal }),
      );
      id = found.data ?? "";
      return found.success;
    } catch (error) {
      if (error instanceof DriverRefusal) return false;
      throw error;
    }
  };
  if (await poll(isFound, { everyMs: lookEveryMs, ms: focusMs, signal })) return id;
  throw new DeviceError(
    "INPUT_NOT_TAKEN",
    "No field has the focus, so the text went nowhere. Name a field, or click one first.",
  );
}

/** A text is appended to what is read of the field, and a password field shows only dots. */
async function demandReadable(session: DriverSession, id: string, signal: AbortSignal): Promise<void> {
  const ask = (path: string) => session.ask("GET", `/element/${id}/${path}`, undefined, { signal });
  if (String(await ask("attribute/password")) !== "true" || (await ask("text")) === "") return;
  throw new DeviceError(
    "UNICODE_UNSUPPORTED",
    "Only ASCII can be appended to a password. Give the whole password with input_text.",
  );
}

/** Without the driver's own words, which hold the text. */
const notTaken = (cause: unknown) =>
  new DeviceError(
    "INPUT_NOT_TAKEN",
    "The field did not take the text. Look at the screen: it may have changed or lost the focus.",
    {},
    { cause },
  );
