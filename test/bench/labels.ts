import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Entry } from "./dumps.ts";

const fileSchema = z.object({
  picture: z.string(),
  sha256: z.string(),
  controls: z.array(
    z.strictObject({
      role: z.string(),
      name: z.string(),
      also: z.array(z.string()).default([]),
    }),
  ),
});
export type Control = z.output<typeof fileSchema>["controls"][number];

/** The labels. Refuses them when their picture was changed. */
export async function readControls(folder: string): Promise<readonly Control[]> {
  const file = fileSchema.parse(JSON.parse(await readFile(join(folder, "nodeRedControls.json"), "utf8")));
  const picture = await readFile(join(folder, file.picture));
  const hash = createHash("sha256").update(picture).digest("hex");
  if (hash !== file.sha256)
    throw new Error(`${file.picture} is not the picture that the labels were made from.`);
  return file.controls;
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
