import type { Command } from "../../contract.ts";
import { noSuchKey } from "../../elements/keys.ts";
import { findKeyCode, keyNames } from "../../phones/androidKeys.ts";
import { keyCommands } from "../../phones/keyCommands.ts";
import { portable } from "../../portable.ts";
import { presses } from "../inputs.ts";
import { type AndroidSession, sendInputs } from "../session.ts";

const msPerKey = 300;

/** The portable input, limited to the keys of Android, so that a test with another key is refused before it runs. */
const input = portable.press_key.input.extend({
  key: portable.press_key.input.shape.key.refine((key) => findKeyCode(key) !== undefined, {
    error: ({ input: key }) => noSuchKey(String(key), keyNames).message,
  }),
});

export const androidKeyCommands = (session: AndroidSession): Command[] =>
  keyCommands(
    (key, count, signal) =>
      sendInputs(session, presses(key, count), signal, { timeoutMs: 15_000 + count * msPerKey }),
    ["go_back", "go_home", "show_recents"],
    input,
  );
