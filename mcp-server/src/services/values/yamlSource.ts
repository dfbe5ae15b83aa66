import { quickly } from "@labwright/controllers";
import type { ParsedYaml } from "../../config/parseYaml.ts";
import { type Source, sourceOf } from "../../config/source.ts";
import { ToolError } from "../../errors.ts";
import { createWorkerThread } from "../threads/workerThread.ts";
import { parseExactly, type YamlQuestion } from "./exactYaml.ts";

/** Characters, without those of pictures. */
const longestText = 1_000_000;
/** With its pictures. */
const longestFile = 5_000_000;
/** A longer text is parsed in the thread at once. */
const shortText = 16_000;
const shortMs = 60;

const thread = createWorkerThread<YamlQuestion, ParsedYaml>({
  name: "yamlWorker",
  timeoutMs: 10_000,
  resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
  work: "Reading the YAML",
  hint: "Split the file, and nest less.",
});

/**
 * Parses YAML of a caller: at most 1,000,000 characters without its pictures in base64, and 5,000,000 with them. What takes long
 * is done in a thread of its own. A number beyond JavaScript's precision becomes a placeholder of its digits. What is wrong, also with
 * the size, is in `problems` with its line.
 */
export async function readYamlSource(file: string, text: string): Promise<Source> {
  const size = sizeProblem(text);
  if (size !== undefined) return broken(file, size);
  const quick = text.length > shortText ? undefined : quickly(() => parseExactly({ file, text }), shortMs);
  if (quick) return sourceOf(quick.value);
  try {
    return sourceOf(await thread.ask({ file, text }));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return broken(file, `${error.message} ${error.hint}`);
  }
}

function broken(file: string, message: string): Source {
  const at = { line: 1, column: 1 };
  const places = { numbers: Int32Array.of(), keys: "[]", lineStarts: [0] };
  return sourceOf({ file, value: {}, problems: [{ file, ...at, path: "", message }], places });
}

/** Why a text is too large to be read. */
export function sizeProblem(text: string): string | undefined {
  const advice = "Split it into several files";
  if (text.length > longestFile)
    return `It has ${text.length} characters; at most ${longestFile} are read. ${advice}`;
  if (text.length <= longestText) return undefined;
  const pictures = text.match(/[A-Za-z0-9+/=]{60,}/g)?.reduce((sum, one) => sum + one.length, 0) ?? 0;
  const own = text.length - pictures;
  if (own <= longestText) return undefined;
  return `It has ${own} characters without its pictures; at most ${longestText} are read. ${advice}`;
}
