import { DeviceError } from "../../errors.ts";
import type { Seen } from "../../screens/screen.ts";
import { confirmText, demandFocus, type Typing } from "../../screens/textCommands.ts";
import { centreOf } from "../../screens/touch.ts";
import { keyInput, presses, tapAt } from "../inputs.ts";
import { type AndroidSession, sendInputs } from "../session.ts";
import { readKeyboard } from "../ui/screenFacts.ts";
import { demandTypable, isBeyondKeys, writeByDriver } from "./unicode.ts";

/** One `input text` of more would take longer than the shell allows. */
const piece = 400;
const msPerCharacter = 30;

/** Types by `input text` of the shell, and by the driver what that cannot type. */
export const createTyping = (session: AndroidSession): Typing => ({
  check: (text) => demandTypable(session, text),
  async replace(field, text, signal) {
    if (isBeyondKeys(text)) {
      await sendInputs(session, focusing(field), signal);
      await writeByDriver(session, { text, replace: true }, signal);
    } else {
      const inputs = [...focusing(field), ...clearing(field), ...typing(text)];
      await sendInputs(session, inputs, signal, forText(text));
      await session.input().typeOnScreen(field, text, signal);
    }
    await confirmText(session.reader, field, text, signal);
  },
  async append(field, text, signal) {
    // A view that an app draws itself may take text without being a field; then a keyboard is shown.
    if (field === undefined && (await readKeyboard(session.device, signal)) !== true)
      await demandFocus(session.reader, signal);
    await appendText(session, text, field ? [...focusing(field), keyInput(["END"])] : [], signal);
  },
});

/** Sends inputs, then types a text at the end of the field. */
export async function appendText(
  session: AndroidSession,
  text: string,
  before: readonly string[][],
  signal: AbortSignal,
): Promise<void> {
  if (!isBeyondKeys(text)) return sendInputs(session, [...before, ...typing(text)], signal, forText(text));
  await sendInputs(session, before, signal);
  await writeByDriver(session, { text, replace: false }, signal);
}

const forText = (text: string) => ({ timeoutMs: 15_000 + text.length * msPerCharacter });

const focusing = ({ node, element }: Seen): string[][] =>
  node.focused ? [] : [tapAt(centreOf(element.rect))];

/** Deletes backwards from the end. */
function clearing({ node }: Seen): string[][] {
  const count = [...node.text].length;
  return count === 0 ? [] : [keyInput(["END"]), ...presses("BACKSPACE", count)];
}

/**
 * The inputs that type a text. `input text` reads `%s` as a blank, so these two are never in one piece, and it
 * knows nothing but the keys of a plain keyboard. Throws UNICODE_UNSUPPORTED for anything else.
 */
export function typing(text: string): string[][] {
  const plain = text.replaceAll("\r\n", "\n");
  if (/[^\x20-\x7e\n\t]/.test(plain)) {
    throw new DeviceError(
      "UNICODE_UNSUPPORTED",
      "The text has characters that adb alone cannot type: it types ASCII only. Choose ASCII characters.",
    );
  }
  return plain.split(/(?<=%)(?=s)|([\n\t])/).flatMap((part) => {
    if (part === undefined || part === "") return [];
    if (part === "\n") return [keyInput(["ENTER"])];
    if (part === "\t") return [keyInput(["TAB"])];
    return piecesOf(part).map((one) => ["input", "text", one]);
  });
}

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / piece) }, (_, at) =>
    text.slice(at * piece, (at + 1) * piece),
  );
}
