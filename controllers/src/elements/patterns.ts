import { setImmediate } from "node:timers/promises";
import { DeviceError } from "../errors.ts";
import { quickly } from "../waiting/quickly.ts";
import { createWorkerThread } from "../waiting/workerThread.ts";
import { concealed } from "./concealed.ts";
import { quoted } from "./quoted.ts";
import type { PatternMatch } from "./text.ts";

const timeoutMs = 1_000;
const longMs = 5;
const resourceLimits = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8 };

type Question = { source: string; flags: string; texts: readonly string[] };

const code = `require("node:worker_threads").parentPort.on("message", ({ source, flags, texts }) => {
  const pattern = new RegExp(source, flags);
  require("node:worker_threads").parentPort.postMessage(texts.map((text) => pattern.test(text)));
});`;

const ended = () => new Error("the pattern was ended");
const thread = createWorkerThread<Question, boolean[]>({
  ...{ code, resourceLimits, tooSlow: ended, endedBy: ended },
});

/**
 * Which of the texts a regular expression (without flags g and y) matches, in their order. What takes long runs in a thread of
 * its own, so that other calls go on. Throws INVALID_PARAMS after a second.
 */
export async function testAll(pattern: RegExp, texts: readonly string[]): Promise<readonly boolean[]> {
  const started = performance.now();
  const quick = quickly(() => texts.map((text) => pattern.test(text)));
  // Several in a row must not hold this thread together.
  if (performance.now() - started > longMs) await setImmediate();
  if (quick) return quick.value;
  const { source, flags } = pattern;
  try {
    return await thread.ask({ source, flags, texts }, { timeoutMs });
  } catch (cause) {
    throw new DeviceError(
      "INVALID_PARAMS",
      `The pattern ${quoted(String(pattern))} takes too long on this text; avoid repeats within repeats, such as (a+)+`,
      {},
      { cause },
    );
  }
}

/**
 * Which of the texts, as `TextMatcher.plain` returns them, the pattern of a selector matches. In a check, a secret in a text is
 * compared by its name. Throws what {@link testAll} throws.
 */
export const testPattern = ({ text, flags }: PatternMatch, texts: readonly string[]) =>
  testAll(new RegExp(text.normalize("NFC"), flags), texts.map(concealed));
