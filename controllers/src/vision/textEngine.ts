import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { findProgram, runForBytes } from "../programs/run.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import { lineOf, type ReadWord, type TextLine } from "./textLines.ts";

export const visionAddon = "vision";
const program = "tesseract";
/** A 4K frame on a busy machine. */
const readMs = 60_000;
const listMs = 10_000;
/** A thread holds about 100 MB for its language. */
const idleMs = 60_000;
/** A reading goes on without the caller that began it: others may wait for it too. */
const neverAborted = new AbortController().signal;

/** `line` is one line, `block` some lines below each other, `page` a screen whose layout is to be found. */
export type Layout = "line" | "block" | "page";

/** Reads a PGM file in one language; rects are in its pixels. Throws DEVICE_ERROR and COMMAND_TIMEOUT. */
export type TextEngine = {
  languages: readonly string[];
  read(pgm: Uint8Array, layout: Layout, language: string): Promise<TextLine[]>;
};

const rectSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const wordsSchema = z.array(
  z.object({
    words: z.array(z.object({ text: z.string(), confidence: z.number(), rect: rectSchema })),
  }),
);

type Reader = {
  read(pgm: Uint8Array, layout: Layout): Promise<unknown>;
  end(): Promise<void>;
  ended: Promise<never>;
};
const isFunction = (value: unknown) => typeof value === "function";
const addonSchema = z.object({
  languages: z.array(z.string()),
  openTextReader: z.custom<(language: string) => Promise<Reader>>(isFunction),
});

/** What this machine reads texts with: the add-on, and the program `tesseract` for the languages that it lacks. Undefined without both. */
export async function findEngine(
  context: Pick<ControllerContext, "addons">,
): Promise<TextEngine | undefined> {
  const engines = [await addonEngine(context.addons), await programEngine()].filter(
    (engine) => engine !== undefined,
  );
  const of = (language: string) => engines.find(({ languages }) => languages.includes(language));
  if (engines.length === 0) return undefined;
  return {
    languages: [...new Set(engines.flatMap(({ languages }) => languages))].sort(),
    async read(pgm, layout, language) {
      const engine = of(language);
      if (!engine) throw new Error(`No engine reads ${language}`);
      return engine.read(pgm, layout, language);
    },
  };
}

/** One thread for each language, for all devices. */
const threads = new Map<string, ReaderThread>();

async function addonEngine(addons: ControllerContext["addons"]): Promise<TextEngine | undefined> {
  if (addons.state(visionAddon) !== "installed") return undefined;
  const { languages, openTextReader } = addonSchema.parse(await addons.load(visionAddon));
  return {
    languages,
    read(pgm, layout, language) {
      const thread = threads.get(language) ?? new ReaderThread(() => openTextReader(language));
      threads.set(language, thread);
      return thread.read(pgm, layout);
    },
  };
}

/** Starts with the first picture, and anew after one that broke it or after 60 s without any. */
class ReaderThread {
  readonly #open: () => Promise<Reader>;
  #reader: Promise<Reader> | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #rest: NodeJS.Timeout | undefined;

  constructor(open: () => Promise<Reader>) {
    this.#open = open;
  }

  /** One picture at a time: the thread cannot be interrupted. */
  read(pgm: Uint8Array, layout: Layout): Promise<TextLine[]> {
    const turn = this.#tail.then(() => this.#read(pgm, layout));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #read(pgm: Uint8Array, layout: Layout): Promise<TextLine[]> {
    clearTimeout(this.#rest);
    this.#reader ??= this.#open();
    const opened = this.#reader;
    try {
      const reader = await opened;
      const late = AbortSignal.timeout(readMs);
      const answer = await untilAborted(Promise.race([reader.read(pgm, layout), reader.ended]), late);
      return wordsSchema.parse(answer).flatMap(({ words }) => linesOf(words.map(withShare)));
    } catch (cause) {
      this.#reader = undefined;
      void opened.then((reader) => reader.end()).catch(() => undefined);
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new DeviceError("DEVICE_ERROR", `The text reader stopped: ${why}. Try again.`, {}, { cause });
    } finally {
      this.#rest = setTimeout(() => void this.#end(), idleMs).unref();
    }
  }

  async #end(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.then((one) => one.end()).catch(() => undefined);
  }
}

const withShare = (word: ReadWord): ReadWord => ({ ...word, confidence: word.confidence / 100 });

/** One line, or none where nothing but marks of a border was read. */
function linesOf(words: readonly ReadWord[]): TextLine[] {
  const read = words.map((word) => ({ ...word, text: word.text.trim() })).filter(({ text }) => text !== "");
  return read.some(({ text }) => /[\p{L}\p{N}]/u.test(text)) ? [lineOf(read)] : [];
}

let listed: { file: string; languages: Promise<string[]> } | undefined;

async function programEngine(): Promise<TextEngine | undefined> {
  const file = findProgram(program);
  if (file === undefined) return undefined;
  if (listed?.file !== file) listed = { file, languages: listLanguages(file) };
  return { languages: await listed.languages, read: (...given) => readByProgram(file, ...given) };
}

async function listLanguages(file: string): Promise<string[]> {
  const options = { signal: neverAborted, timeoutMs: listMs };
  const { stdout } = await runForBytes(file, ["--list-langs"], options).catch(() => ({ stdout: "" }));
  return String(stdout)
    .split("\n")
    .slice(1)
    .filter((line) => /^[a-z]{3}(_\w+)?$/.test(line) && line !== "osd");
}

const pageModes: Readonly<Record<Layout, string>> = { line: "7", block: "6", page: "3" };

async function readByProgram(
  file: string,
  pgm: Uint8Array,
  layout: Layout,
  language: string,
): Promise<TextLine[]> {
  const args = ["stdin", "stdout", "-l", language, "--psm", pageModes[layout], "tsv"];
  // Its threads wait for each other: with two it takes five times as long.
  const env = { ...process.env, OMP_THREAD_LIMIT: "1" };
  const options = { input: pgm, env, signal: neverAborted, timeoutMs: readMs };
  const { code, stdout, stderr } = await runForBytes(file, args, options);
  if (code === 0) return linesOfTsv(String(stdout));
  const why = stderr.trim().split("\n", 1)[0];
  throw new DeviceError("DEVICE_ERROR", `${file} could not read the picture: ${why}. Install it anew.`);
}

/** Tesseract's table: level 5 is a word; columns 2 to 4 say in which line of the page it is, 6 to 9 where, 10 how sure it is. */
export function linesOfTsv(table: string): TextLine[] {
  const lines = new Map<string, ReadWord[]>();
  for (const row of table.split("\n")) {
    const [level, , block, paragraph, line, , x, y, width, height, confidence, text] = row.split("\t");
    if (level !== "5" || text === undefined) continue;
    const key = `${block} ${paragraph} ${line}`;
    const rect = { x: Number(x), y: Number(y), width: Number(width), height: Number(height) };
    const word = { text, confidence: Math.max(0, Number(confidence)) / 100, rect };
    lines.set(key, [...(lines.get(key) ?? []), word]);
  }
  return [...lines.values()].flatMap(linesOf);
}
