import { foldedWords } from "@labwright/skills";
import { isUnderstood, type Token } from "./words.ts";

/** What people call a thing that is there. */
export type Named = { names: readonly string[] };

/**
 * Finds which things the tokens name in full; case, accents, `_`, `-` and spaces do not count. Of two names one of which
 * has the other in it, the longer is meant; of a name of things of two groups, that of the first. `taken` are the tokens.
 */
export function namedIn<Thing extends Named>(
  tokens: readonly Token[],
  groups: readonly (readonly Thing[])[],
): { found: Thing[][]; taken: Token[] } {
  const all = groups.flatMap((things, group) =>
    things.flatMap((thing) =>
      thing.names.flatMap((name) => spansOf(tokens, name).map((span) => ({ ...span, thing, group }))),
    ),
  );
  const spans = all.filter(
    (one) => !all.some((other) => holds(other, one) && (!holds(one, other) || other.group < one.group)),
  );
  return {
    found: groups.map((things) => things.filter((thing) => spans.some((span) => span.thing === thing))),
    taken: tokens.filter((_, at) => spans.some(({ from, to }) => at >= from && at < to)),
  };
}

type Span = { from: number; to: number };
const holds = (outer: Span, inner: Span): boolean => outer.from <= inner.from && outer.to >= inner.to;

/** Where whole tokens, one after the other, are the words of a name. A name of plain words, as "run", needs quotes. */
function spansOf(tokens: readonly Token[], name: string): Span[] {
  const key = foldedWords(name).join(" ");
  return tokens.flatMap((_, from) => {
    let words = "";
    for (let to = from; to < tokens.length && words.length < key.length; to++) {
      words = `${words} ${tokens[to]?.words.join(" ")}`.trimStart();
      if (words === key && !isPlain(tokens.slice(from, to + 1))) return [{ from, to: to + 1 }];
    }
    return [];
  });
}

const isPlain = (tokens: readonly Token[]): boolean =>
  tokens.every((token) =>
    isUnderstood(token, ["run", "not", "question", "show", "small", "script", "testcase", "device", "app"]),
  );

/** Things with a word in their name that begins as a token does: what to ask between, as it is no more than likely. */
export function nearIn<Thing extends Named>(
  tokens: readonly Token[],
  things: readonly Thing[],
): readonly Thing[] {
  const words = tokens.flatMap((token) => token.words).filter(({ length }) => length > 2);
  const near = ({ names }: Named) =>
    names.some((name) => foldedWords(name).some((word) => words.some((said) => word.startsWith(said))));
  return things.filter(near);
}
