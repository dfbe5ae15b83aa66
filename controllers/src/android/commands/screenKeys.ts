import type { Element } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { focusOn } from "../../screens/byFocus.ts";
import type { AndroidSession } from "../session.ts";

/** Fewer keys of one character are some buttons, and no keyboard. */
const leastKeys = 10;
const namedKeys: ReadonlyMap<string, RegExp> = new Map([
  [" ", /^(?:space(?: ?bar)?|␣|⎵|_)$/i],
  ["\b", /^(?:delete|backspace|del|⌫|←)$/i],
]);

/** Says whether the app shows a keyboard of its own: keys that the focus goes to. */
export async function hasScreenKeys({ reader }: AndroidSession, signal: AbortSignal): Promise<boolean> {
  const { candidates } = await reader.focus.focus(signal);
  return candidates.filter(({ name }) => [...name].length === 1).length >= leastKeys;
}

/**
 * Types by the keys that the app shows on the screen, after so many presses of the one that deletes. Throws UNICODE_UNSUPPORTED,
 * before anything is pressed, for a character that has no key.
 */
export async function typeByScreenKeys(
  session: AndroidSession,
  { text, deletions }: { text: string; deletions: number },
  signal: AbortSignal,
): Promise<void> {
  const { candidates } = await session.reader.focus.focus(signal);
  const characters = [...Array<string>(deletions).fill("\b"), ...text];
  const missing = characters.find((character) => keyFor(character, candidates) === undefined);
  if (missing !== undefined)
    throw new DeviceError(
      "UNICODE_UNSUPPORTED",
      `The field takes no text from outside, and the keyboard on the screen shows no key for ${JSON.stringify(missing)}. Choose characters that it shows.`,
    );
  for (const { character, count } of runsOf(characters))
    await pressScreenKey(session, character, count, signal);
}

async function pressScreenKey(
  session: AndroidSession,
  character: string,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const find = (candidates: readonly Element[]) => keyFor(character, candidates);
  const wanted = `the key ${JSON.stringify(character)}`;
  await focusOn(session.hand, { focus: session.reader.focus, find }, { wanted, timeoutMs: 0 }, signal);
  await session.hand.press(Array<"OK">(count).fill("OK"), signal);
}

/** A key called like the character, else like its small or capital letter: most keyboards show one of both. */
function keyFor(character: string, candidates: readonly Element[]): Element | undefined {
  const named = namedKeys.get(character);
  if (named) return candidates.find(({ name }) => named.test(name));
  const other = character.toLowerCase() === character ? character.toUpperCase() : character.toLowerCase();
  return candidates.find(({ name }) => name === character) ?? candidates.find(({ name }) => name === other);
}

/** Characters that follow each other need no move between them. */
function runsOf(characters: readonly string[]): { character: string; count: number }[] {
  const runs: { character: string; count: number }[] = [];
  for (const character of characters) {
    const last = runs.at(-1);
    if (last?.character === character) last.count += 1;
    else runs.push({ character, count: 1 });
  }
  return runs;
}
