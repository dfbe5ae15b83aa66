/**
 * The ref in the first line of a dump that has `name` in quotes, in either side's form: `e12 button "Save"` or
 * `button "Save" [ref=e12]`. Throws when no line has it.
 */
export function refOf(dump: string, name: string): string {
  const line = dump.split("\n").find((candidate) => candidate.includes(`"${name}"`));
  const ref = /\b(?:f\d+)?e\d+\b/.exec(line ?? "")?.[0];
  if (ref === undefined) throw new Error(`No ref of "${name}" in:\n${dump.slice(0, 2_000)}`);
  return ref;
}
