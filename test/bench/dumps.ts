/** One thing that a dump shows: its ref, its role as the dump calls it, and what it says of it by way of a name. */
export type Entry = { ref: string; role: string; name: string };

const ref = String.raw`((?:f\d+)?e\d+)`;
const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;
/** `e12 button "Save" disabled`, after the sign of a change. */
const ours = new RegExp(String.raw`^\s*[+~]?\s*${ref} ([\w-]+)(?: ${quoted})?`);
/** `link: e8 "Home" e9 "Orders"`: several of one role. */
const oursInOneLine = new RegExp(String.raw`^\s*[+~]?\s*([\w-]+): (?=${ref} ")`);
const oneOfThem = new RegExp(`${ref} ${quoted}`, "g");
/** `- button "Save" [ref=e12]`, `- generic [ref=e47]: inject`. */
const theirs = new RegExp(String.raw`^\s*- ([\w-]+)(?: ${quoted})?.*\[ref=${ref}\][^:]*(?::(?: +(\S.*))?)?$`);
/** Has no ref but stands inside something that has. */
const theirText = /^\s*- text: *(\S.*)$/;

function entriesOf(line: string): Entry[] {
  const role = oursInOneLine.exec(line)?.[1];
  if (role !== undefined) {
    return [...line.matchAll(oneOfThem)].map(([, ref = "", name = ""]) => ({ ref, role, name }));
  }
  const own = ours.exec(line);
  if (own) return [{ ref: own[1] ?? "", role: own[2] ?? "", name: own[3] ?? "" }];
  const other = theirs.exec(line);
  if (other) return [{ ref: other[3] ?? "", role: other[1] ?? "", name: other[2] ?? other[4] ?? "" }];
  const text = theirText.exec(line);
  return text ? [{ ref: "", role: "text", name: text[1] ?? "" }] : [];
}

/** A reply of ours whose dump is one line has it behind the name of the field. */
const field = /^(?:elements|screen): /;

/** What a dump of either side shows, in its order. */
export function parseEntries(dump: string): Entry[] {
  return dump.split("\n").flatMap((line) => entriesOf(line.replace(field, "")));
}

/** The ref of the first entry with just this name, and this role if one is given. Throws when there is none. */
export function refOf(dump: string, name: string, role?: string): string {
  const found = parseEntries(dump).find(
    (entry) => entry.name === name && (role === undefined || entry.role === role) && entry.ref !== "",
  );
  if (!found) throw new Error(`No ref of "${name}" in:\n${dump.slice(0, 2_000)}`);
  return found.ref;
}
