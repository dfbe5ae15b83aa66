import { foldedWords } from "@labwright/skills";
import { isPlain, type Token } from "./words.ts";

/** A thing that is there: what a tool takes for it, and what people call it. */
export type Thing = { value: string; names: readonly string[] };

/**
 * Things that a text names. `sure` are named in full. `short` are named by the beginning of their words; it may be one of
 * them, or `isDoubtful` because more was said beside it.
 */
export type Mentions = {
  sure: readonly Thing[];
  short: readonly Thing[];
  isDoubtful: boolean;
  /** The tokens that are left once the names are taken out. */
  rest: readonly Token[];
};

type Span = { thing: Thing; from: number; to: number };
const minLetters = 3;

/** Finds which of `things` the tokens name. Case, accents, `_`, `-` and spaces do not count. Never guesses by likeness. */
export function mentionsIn(tokens: readonly Token[], things: readonly Thing[]): Mentions {
  const spans = longest(
    things.flatMap((thing) => thing.names.flatMap((name) => spansOf(tokens, thing, name))),
  );
  const sure = things.filter((thing) => spans.some((span) => span.thing === thing));
  if (sure.length > 0) {
    const isTaken = (at: number) => spans.some(({ from, to }) => at >= from && at < to);
    return { sure, short: [], isDoubtful: false, rest: tokens.filter((_, at) => !isTaken(at)) };
  }
  return { sure, ...shortIn(tokens, things) };
}

/** Where whole tokens, one after the other, are the words of a name. */
function spansOf(tokens: readonly Token[], thing: Thing, name: string): Span[] {
  const wanted = foldedWords(name);
  const key = wanted.join(" ");
  if (key === "") return [];
  const needsQuotes = wanted.every(isPlainVerb) && !/\W/.test(name);
  return tokens.flatMap((_, from) => {
    const words: string[] = [];
    for (let to = from; to < tokens.length && words.length < wanted.length; to++) {
      words.push(...(tokens[to]?.words ?? []));
      if (words.join(" ") !== key) continue;
      const isMeant = !needsQuotes || tokens.slice(from, to + 1).some(({ isQuoted }) => isQuoted);
      return isMeant ? [{ thing, from, to: to + 1 }] : [];
    }
    return [];
  });
}

/** A thing that is called "run" is meant only where that is quoted. */
const isPlainVerb = (word: string): boolean =>
  isPlain(word) &&
  /^(?:run|start|test|tests|script|scripts|list|all|show|the|a|on|it|and|or|not|no)$/.test(word);

const longest = (spans: readonly Span[]): Span[] =>
  spans.filter(
    (one) => !spans.some(({ from, to }) => from <= one.from && to >= one.to && to - from > one.to - one.from),
  );

function shortIn(tokens: readonly Token[], things: readonly Thing[]): Omit<Mentions, "sure"> {
  const saying = tokens.map(({ words }) => words.some((word) => !isPlain(word)));
  const hits = things.map((thing) => ({
    thing,
    at: tokens.flatMap((token, at) => (saying[at] === true && isShortFor(token, thing) ? [at] : [])),
  }));
  const most = Math.max(0, ...hits.map(({ at }) => at.length));
  const best = most === 0 ? [] : hits.filter(({ at }) => at.length === most);
  const taken = new Set(best.flatMap(({ at }) => at));
  const isDoubtful = [...taken].some((at) =>
    [at - 1, at + 1].some((beside) => saying[beside] === true && !taken.has(beside)),
  );
  return {
    short: best.map(({ thing }) => thing),
    isDoubtful,
    rest: tokens.filter((_, at) => !taken.has(at)),
  };
}

/** "goog" is short for google_tv, "smoke_log" for smoke_login; "login_new" is not for login_basic. */
function isShortFor({ words }: Token, { names }: Thing): boolean {
  if (words.join("").length < minLetters) return false;
  const last = words.length - 1;
  return names.some((name) => {
    const whole = foldedWords(name);
    return whole.some((_, from) =>
      words.every((word, at) => {
        const other = whole[from + at] ?? "";
        return at === last ? other.startsWith(word) : other === word;
      }),
    );
  });
}
