import { type CelFunc, CelScalar, celFunc, isCelList, isCelMap } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";

/** Characters that a text made by an expression may have. */
const longestText = 1_000_000;

function refuseLong(length: number): void {
  if (length > longestText) throw new Error(`a text would be longer than ${longestText} characters`);
}

/** Characters that a value has when it is written out; counting ends soon after the limit. */
function lengthOf(value: unknown, left = longestText): number {
  if (typeof value === "string") return value.length;
  const parts = isCelList(value) ? value : isCelMap(value) ? [...value.entries()].flat() : undefined;
  if (!parts) return 25;
  let length = 2;
  for (const part of parts) {
    length += lengthOf(part, left - length) + 2;
    if (length > left) break;
  }
  return length;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** How long the text that a function makes will be at most. Others give no more than they got. */
const lengths: Readonly<Record<string, (target: unknown, args: readonly unknown[]) => number>> = {
  replace(target, [wanted, replacement]) {
    const [text, part] = [textOf(target), textOf(wanted)];
    const count = part === "" ? text.length + 1 : text.split(part).length - 1;
    return text.length + count * textOf(replacement).length;
  },
  join: (target, [separator]) =>
    lengthOf(target) + (isCelList(target) ? target.size * textOf(separator).length : 0),
  // Each %s names another item.
  format: (target, [items]) => textOf(target).length + lengthOf(items),
};

function bounded(own: CelFunc): CelFunc {
  const length = lengths[own.name];
  if (!length) return own;
  const wrapped: CelFunc = Object.create(own);
  return Object.assign(wrapped, {
    call(...[id, target, args]: Parameters<CelFunc["call"]>) {
      if (target !== undefined) refuseLong(length(target, args));
      return own.call(id, target, args);
    },
  });
}

/** CEL's string functions and `+` of texts, none of which makes a longer text than a million characters. */
export const boundedStrings: readonly CelFunc[] = [
  ...strings.map(bounded),
  celFunc("_+_", [CelScalar.STRING, CelScalar.STRING], CelScalar.STRING, (a, b) => {
    refuseLong(a.length + b.length);
    return a + b;
  }),
  celFunc("_+_", [CelScalar.BYTES, CelScalar.BYTES], CelScalar.BYTES, (a, b) => {
    refuseLong(a.length + b.length);
    return Buffer.concat([a, b]);
  }),
];
