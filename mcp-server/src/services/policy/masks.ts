/** Shorter values would be masked inside ordinary words. */
export const shortestSecret = 4;

/** Shorter values are found in one case and without spaces only: "anna" is not "Anna", "into" is not "in to". */
const shortestRespelled = 6;

type Named = readonly (readonly [value: string, name: string])[];

/** One spelling. `isExact`: not in another case. */
type Form = { name: string; form: string; lower: string; isExact: boolean };

/**
 * Hides each value as `[secret NAME]`: as it is, URL-encoded, with every character percent-encoded, escaped as in JSON and HTML,
 * in base64 (also inside longer base64) and in hex; from 6 characters on in any case of letters, and with spaces between the
 * characters. A part of a value is hidden where "…" marks that it was cut. Other spellings, such as reversed ones, are not found.
 */
export function createMask(values: Named): (text: string) => string {
  const named = [...new Map(values)];
  if (named.length === 0) return (text) => text;
  const forms = named.flatMap(([value, name]) => formsOf(value, name));
  const find = createFinder(forms, ({ lower }) => lower);
  const spaced = named.flatMap(([value, name]) => spacedOf(value, name));
  const findSpaced = createFinder(spaced, ({ compact }) => compact);
  const pieces = named.flatMap(([value, name]) =>
    [...new Set([value, escaped(value)])].map((form) => [form, name] as const),
  );
  return (text) => {
    if (text.length < shortestSecret) return text;
    const masked = hideSpaced(hideForms(text, find), findSpaced);
    return masked.includes("…") || masked.includes(" more]") ? hidePieces(masked, pieces) : masked;
  };
}

/** Calls `at` with each place where an item may begin, and its items, the longest first; goes on at the place that `at` returns. */
type Finder<Item> = (text: string, at: (place: number, items: readonly Item[]) => number) => void;

/** Looks for many texts in one pass, whatever their number: by a hash of their first four characters. */
function createFinder<Item>(items: readonly Item[], textOf: (item: Item) => string): Finder<Item> {
  const bySeed = new Map<number, Item[]>();
  for (const item of [...items].sort((a, b) => textOf(b).length - textOf(a).length)) {
    const bytes = Buffer.from(textOf(item), "latin1");
    const seed = hashOf(bytes.readInt32BE(0));
    bySeed.set(seed, [...(bySeed.get(seed) ?? []), item]);
  }
  const isSeed = new Uint8Array(65_536);
  for (const seed of bySeed.keys()) isSeed[seed] = 1;
  return (text, at) => {
    const bytes = Buffer.from(text, "latin1");
    let word = 0;
    for (let end = 0, next = 0; end < bytes.length; end++) {
      word = (word << 8) | (bytes[end] ?? 0);
      const seed = hashOf(word);
      if (isSeed[seed] === 0 || end < next + 3) continue;
      next = at(end - 3, bySeed.get(seed) ?? []);
    }
  };
}

/** 16 bits of Knuth's multiplicative hash. */
const hashOf = (word: number): number => Math.imul(word, 0x9e3779b1) >>> 16;

function hideForms(text: string, find: Finder<Form>): string {
  const lower = lowerCase(text);
  const parts: string[] = [];
  let from = 0;
  find(lower, (place, forms) => {
    const found = forms.find((one) =>
      one.isExact ? text.startsWith(one.form, place) : lower.startsWith(one.lower, place),
    );
    if (!found) return from;
    parts.push(text.slice(from, place), `[secret ${found.name}]`);
    from = place + found.form.length;
    return from;
  });
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

/** Of the same length: the few letters that would become two stay as they are. A sigma is the same at the end of a word. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase().replaceAll("ς", "σ");
  if (lower.length === text.length) return lower;
  return Array.from(text, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join(
    "",
  );
}

function formsOf(value: string, name: string): Form[] {
  const isExact = value.length < shortestRespelled;
  const hex = Buffer.from(value).toString("hex");
  const form = (isExact: boolean) => (form: string) => ({ name, form, lower: lowerCase(form), isExact });
  return [
    ...[...ordinary(value), ...base64(value)].map(form(isExact)),
    ...[hex, hex.replace(/../g, "%$&")].map(form(false)),
  ];
}

type Spaced = { name: string; compact: string; pattern: RegExp };

function spacedOf(value: string, name: string): Spaced[] {
  const characters = [...value].filter((character) => !/\s/.test(character));
  if (characters.length < shortestRespelled || value.length > longestSpaced) return [];
  const pattern = new RegExp(characters.map(literal).join("[\\s\\u200b]*"), "gi");
  const compact = compacted(characters.join(""));
  return compact.length < shortestSecret ? [] : [{ name, compact, pattern }];
}

const longestSpaced = 1_000;
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function hideSpaced(text: string, find: Finder<Spaced>): string {
  const compact = compacted(text);
  const found = new Set<Spaced>();
  find(compact, (place, items) => {
    for (const one of items) if (compact.startsWith(one.compact, place)) found.add(one);
    return 0;
  });
  return [...found].reduce((masked, { pattern, name }) => masked.replace(pattern, `[secret ${name}]`), text);
}

/** In lower case and without white space, by the low byte of each character: equal texts stay equal, others may become so. */
function compacted(text: string): string {
  const bytes = Buffer.from(lowerCase(text), "latin1");
  let length = 0;
  // An iterator would take ten times as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 32 && byte !== 160) bytes[length++] = byte;
  }
  return bytes.toString("latin1", 0, length);
}

/** Split by it, every second part is a mark. */
const cutMark = /(…|\[\d+ more\])/;

/** The beginning of a value before a mark, and its end after one. */
function hidePieces(text: string, pieces: Named): string {
  const parts = text.split(cutMark);
  const isMark = (at: number) => at % 2 === 1;
  const ends = parts.map((part, at) => {
    if (at === 0 || isMark(at)) return part;
    const [gap = ""] = /^ ?["']?/.exec(part) ?? [];
    const end = longest(pieces, (value) => overlap(value, part.slice(gap.length, longestPiece)));
    return end ? `${gap}[secret ${end.name}]${part.slice(gap.length + end.size)}` : part;
  });
  const beginnings = ends.map((part, at) => {
    if (at === ends.length - 1 || isMark(at)) return part;
    const [gap = ""] = /["'\s]*$/.exec(part.slice(-10)) ?? [];
    const cut = longest(pieces, (value) =>
      overlap(part.slice(-longestPiece, part.length - gap.length), value),
    );
    return cut ? `${part.slice(0, part.length - gap.length - cut.size)}[secret ${cut.name}]${gap}` : part;
  });
  return beginnings.join("");
}

const longestPiece = 5_000;

function longest(pieces: Named, sizeOf: (value: string) => number) {
  const [best] = pieces
    .map(([value, name]) => ({ size: sizeOf(value), name }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => b.size - a.size);
  return best;
}

/** How long the end of one text is that begins the next; 0 below 4 characters. */
function overlap(text: string, next: string): number {
  for (let size = Math.min(next.length, text.length); size >= shortestSecret; size--)
    if (text.charCodeAt(text.length - size) === next.charCodeAt(0) && text.endsWith(next.slice(0, size)))
      return size;
  return 0;
}

const escaped = (value: string): string => JSON.stringify(value).slice(1, -1);
/** As programs write JSON that has ASCII alone. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Quotes are written in several ways, or stay. */
const doubleQuotes = ["quot", "#34", "#x22", undefined];
const singleQuotes = [undefined, "#39", "#x27", "#039", "apos"];
const inHtml = (value: string): string[] =>
  doubleQuotes
    .flatMap((double) => singleQuotes.map((single) => ({ double, single })))
    .map(({ double, single }) => {
      const entities = { "&": "amp", "<": "lt", ">": "gt", '"': double, "'": single };
      return Object.entries(entities).reduce(
        (text, [character, entity]) => (entity ? text.replaceAll(character, `&${entity};`) : text),
        value,
      );
    });

function ordinary(value: string): string[] {
  const json = escaped(value);
  const all = [
    value,
    encodeURIComponent(value),
    new URLSearchParams([["", value]]).toString().slice(1),
    json,
    escaped(json),
    json.replaceAll("/", "\\/"),
    inAscii(json),
    inAscii(json).replaceAll("/", "\\/"),
    ...inHtml(value),
  ];
  return [...new Set(all)].filter((form) => form.length >= shortestSecret);
}

/** Whole, and the characters that depend on the value alone for each of the three offsets at which it can start; both alphabets. */
function base64(value: string): string[] {
  const bytes = Buffer.from(value);
  const inner = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = offset === 0 ? 0 : offset + 1;
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(start, end);
  });
  const whole = bytes.toString("base64");
  // Under 8 characters they would be found by chance.
  const all = [whole, whole.replace(/=+$/, ""), ...inner.filter((text) => text.length >= 8)];
  return all.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}
