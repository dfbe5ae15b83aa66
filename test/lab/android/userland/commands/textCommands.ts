import type { Command, CommandContext } from "../system.ts";
import { fail, readOptions } from "./reply.ts";

export const textCommands: Readonly<Record<string, Command>> = { grep };

async function* bytesOf(paths: readonly string[], { system, stdin }: CommandContext) {
  if (paths.length === 0) yield* stdin;
  for (const path of paths) yield system.files.read(path);
}

async function* linesOf(paths: readonly string[], context: CommandContext): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of bytesOf(paths, context)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** With -i, -v, -c, -q, -w, -o, -E, -e and -F. Each line is written as it comes, since what is read may be endless. */
async function grep(args: readonly string[], context: CommandContext): Promise<number> {
  const { options, rest } = readOptions(args, ["-e"]);
  const letters = new Set([...options.keys()].join("").replaceAll("-", ""));
  const wanted = options.get("-e") ?? rest.shift() ?? "";
  const pattern = patternOf(wanted, letters);
  if (!pattern) return fail(context, `grep: bad regex '${wanted}'`, 2);
  let count = 0;
  for await (const text of matches(rest, pattern, letters, context)) {
    count += 1;
    if (!letters.has("c") && !letters.has("q")) await context.out(`${text}\n`);
  }
  if (letters.has("c")) await context.out(`${count}\n`);
  return count > 0 ? 0 : 1;
}

async function* matches(
  paths: readonly string[],
  pattern: RegExp,
  letters: ReadonlySet<string>,
  context: CommandContext,
): AsyncGenerator<string> {
  for await (const line of linesOf(paths, context)) {
    const found = pattern.exec(line);
    if ((found !== null) !== letters.has("v")) yield letters.has("o") && found ? found[0] : line;
  }
}

function patternOf(text: string, letters: ReadonlySet<string>): RegExp | undefined {
  const plain = letters.has("F") ? text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : text.replaceAll("\\|", "|");
  try {
    return new RegExp(letters.has("w") ? `\\b(?:${plain})\\b` : plain, letters.has("i") ? "i" : "");
  } catch {
    return undefined;
  }
}
