import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const fileSchema = z.object({
  picture: z.string(),
  sha256: z.string(),
  controls: z.array(
    z.strictObject({ role: z.string(), name: z.string(), also: z.array(z.string()).default([]) }),
  ),
});
export type Control = z.output<typeof fileSchema>["controls"][number];
/** One thing that a dump shows: its role as the dump calls it, and everything it says of it by way of a name. */
export type Entry = { role: string; name: string };

/** The labels, after checking that they belong to the picture beside them. */
export async function readControls(folder: string): Promise<readonly Control[]> {
  const file = fileSchema.parse(JSON.parse(await readFile(join(folder, "nodeRedControls.json"), "utf8")));
  const picture = await readFile(join(folder, file.picture));
  const hash = createHash("sha256").update(picture).digest("hex");
  if (hash !== file.sha256)
    throw new Error(`${file.picture} is not the picture that the labels were made from.`);
  return file.controls;
}

const ref = /(?:\[ref=)?\b(?:f\d+)?e\d+\b\]?/;
const roleAndName = /([a-z]+) (?:"((?:[^"\\]|\\.)*)"|\/((?:[^/\\]|\\.)*)\/)/i;

/**
 * Entries of a dump, ours (`e12 button "Save"`) or theirs (`- button "Save" [ref=e12]`, `- generic [ref=e1]: Save`, and
 * `- text: Save`, which has no ref but stands inside something that has).
 */
export function parseEntries(dump: string): Entry[] {
  return dump.split("\n").flatMap((line) => entryOf(line) ?? []);
}

function entryOf(line: string): Entry | undefined {
  const inside = /^\s*- (text): *(\S.*)$/.exec(line);
  const named = roleAndName.exec(line);
  const worded = /^\s*- ([a-z]+)[^:]*: *(\S.*)$/i.exec(line);
  const found = inside ?? (ref.test(line) ? (named ?? worded) : null);
  return found ? { role: found[1] ?? "", name: found[2] ?? found[3] ?? "" } : undefined;
}

const words = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;
const editable = new Set(["textbox", "searchbox", "combobox", "input"]);

export function shows(entry: Entry, control: Control): boolean {
  if (editable.has(entry.role) !== (control.role === "textbox")) return false;
  const name = words(entry.name);
  return [control.name, ...control.also].some((wanted) => name.includes(words(wanted)));
}

/** The controls that get an entry of their own, in the largest one-to-one matching (augmenting paths). */
export function matchControls(entries: readonly Entry[], controls: readonly Control[]): Control[] {
  const owner = new Map<number, number>();
  const claim = (control: number, tried: Set<number>): boolean =>
    entries.some((entry, index) => {
      const wanted = controls[control];
      if (tried.has(index) || wanted === undefined || !shows(entry, wanted)) return false;
      tried.add(index);
      const before = owner.get(index);
      if (before !== undefined && !claim(before, tried)) return false;
      owner.set(index, control);
      return true;
    });
  for (const index of controls.keys()) claim(index, new Set());
  const matched = new Set(owner.values());
  return controls.filter((_, index) => matched.has(index));
}
