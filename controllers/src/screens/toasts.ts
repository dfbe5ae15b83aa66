import { z } from "zod";
import { type Check, defineCheck } from "../contract.ts";
import { matches, matchSchema, matchWords, partNote, relation } from "../elements/match.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, ofPresence, untold } from "../elements/readings.ts";
import { cutScreen } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import { nodesBelow } from "./tree.ts";

export const toastSeenName = "toast_seen";
const toastClass = "android.widget.Toast";
/** Checks that are polled together share a look: it is no older than this. */
const sharedMs = 200;

const input = z.strictObject({ text: z.string().max(1_000), match: matchSchema.default("words") });

/** A look shows a toast for as long as UiAutomator2 remembers it, some seconds. */
export const toastSeen = (reader: ScreenReader): Check =>
  defineCheck<typeof input>({
    name: toastSeenName,
    description: `A toast with this text was shown in the last seconds; ${matchWords}`,
    input,
    judges: ofPresence,
    async read({ text, match }, signal) {
      const { tree } = await reader.recent(signal, sharedMs);
      const nodes = tree.roots.flatMap((root) => [...nodesBelow(root)]);
      const toasts = nodes.filter(({ className }) => className === toastClass).map((node) => node.text);
      const expected = `a toast ${relation(match)} ${quoted(text)}`;
      const holds = toasts.some((one) => matches(match, text, one));
      if (!holds && tree.isCut) return untold(expected, cutScreen);
      if (toasts.length === 0) return absent(expected, "none was shown");
      const said = toasts.map((one) => quoted(one)).join(", ");
      return { holds, expected, actual: `it said ${said}${partNote(match, text, toasts)}` };
    },
  });
