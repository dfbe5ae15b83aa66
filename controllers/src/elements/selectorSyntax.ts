/** What makes a selector unreadable, and where: `at` counts characters from 0. */
export type SyntaxProblem = { at: number; why: string };

type Token = { kind: string; text: string; at: number };
/** For each kind of token, the kinds that may follow. `start` and `end` are the edges of the whole. */
type Grammar = Readonly<Record<string, string>>;

/**
 * The first thing that no CSS selector can have: an open bracket or quote, a combinator or comma without a selector on both
 * sides, a `.`, `#` or `:` without a name. What stands in brackets, and which names exist, is left to the browser.
 */
export function cssProblem(css: string): SyntaxProblem | undefined {
  const tokens = tokensOf(css, cssToken);
  return first(bracketProblem(tokens), orderProblem(outsideBrackets(tokens), cssGrammar, css));
}

/** The first thing that no XPath 1.0 expression can have at its place. */
export function xpathProblem(xpath: string): SyntaxProblem | undefined {
  const tokens = withOperators(tokensOf(xpath, xpathToken));
  return first(bracketProblem(tokens), orderProblem(tokens, xpathGrammar, xpath));
}

const quote = `(?<quote>"(?:[^"\\\\]|\\\\[\\s\\S])*"|'(?:[^'\\\\]|\\\\[\\s\\S])*')`;
const letter = "(?:[-\\w\\u0080-\\uffff]|\\\\[\\s\\S])";
const cssToken = new RegExp(
  `${quote}|(?<open>[([])|(?<close>[)\\]])|(?<comma>,)|(?<combinator>>>|\\|\\||[>+~])|` +
    `(?<piece>(?:[.#](?!\\d|-\\d)|::?)${letter}+|[*&|]|[%]|${letter}+)|(?<stray>\\S)`,
  "gu",
);
const cssGrammar: Grammar = {
  start: "piece group combinator",
  piece: "piece group combinator comma end",
  group: "piece group combinator comma end",
  combinator: "piece group",
  comma: "piece group",
};

const name = "[\\p{L}_][-\\p{L}\\p{N}_.·]*";
const xpathToken = new RegExp(
  `(?<operand>"[^"]*"|'[^']*'|\\d+(?:\\.\\d*)?|\\.\\d+|\\$${name})|(?<deep>//)|(?<slash>/)|(?<axis>::)|` +
    `(?<step>\\.\\.|\\.|@?(?:${name}:(?!:))?(?:${name}|\\*))|(?<minus>-)|(?<operator>!=|<=|>=|[=<>+|,])|` +
    "(?<open>[([])|(?<close>[)\\]])|(?<stray>\\S)",
  "gu",
);
const begins = "operand step slash deep minus paren";
const goesOn = "operator minus slash deep bracket close end";
const xpathGrammar: Grammar = {
  start: begins,
  operator: begins,
  minus: begins,
  bracket: begins,
  paren: `${begins} close`,
  deep: "step",
  axis: "step",
  slash: "step operator close end",
  step: `${goesOn} axis paren`,
  operand: goesOn,
  close: goesOn,
};

function tokensOf(text: string, pattern: RegExp): Token[] {
  return [...text.matchAll(pattern)].map((match) => {
    const [kind = "stray"] =
      Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [];
    return { kind, text: match[0], at: match.index };
  });
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]" };

function bracketProblem(tokens: readonly Token[]): SyntaxProblem | undefined {
  const open: Token[] = [];
  for (const { kind, text, at } of tokens) {
    if (kind === "stray" && /["']/.test(text)) return { at, why: "the quote is not closed" };
    if (text in closers) open.push({ kind, text, at });
    const problem = kind === "close" ? closingProblem(open.pop(), { kind, text, at }) : undefined;
    if (problem !== undefined) return problem;
  }
  const last = open.at(-1);
  return last && { at: last.at, why: `${last.text} is not closed` };
}

function closingProblem(opened: Token | undefined, { text, at }: Token): SyntaxProblem | undefined {
  if (opened === undefined) return { at, why: `${text} closes nothing` };
  if (closers[opened.text] === text) return undefined;
  return { at: opened.at, why: `${opened.text} is not closed before ${text}` };
}

/** CSS with each bracket and what it holds as one token. */
function outsideBrackets(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.flatMap((token) => {
    if (token.kind === "close") depth--;
    const isOutside = depth === 0 && token.kind !== "close";
    if (token.kind === "open") depth++;
    return isOutside ? [token.kind === "open" ? { ...token, kind: "group" } : token] : [];
  });
}

/** XPath has operators that look like names, and two kinds of brackets that follow different things. */
function withOperators(tokens: readonly Token[]): Token[] {
  let before = "start";
  return tokens.map((token) => {
    const isAfterValue = /^(step|operand|close)$/.test(before);
    let { kind } = token;
    if (kind === "step" && isAfterValue && /^(and|or|div|mod|\*)$/.test(token.text)) kind = "operator";
    if (kind === "open") kind = token.text === "(" ? "paren" : "bracket";
    before = kind;
    return { ...token, kind };
  });
}

function orderProblem(tokens: readonly Token[], grammar: Grammar, whole: string): SyntaxProblem | undefined {
  let before: Token = { kind: "start", text: "", at: 0 };
  for (const token of [...tokens, { kind: "end", text: "", at: whole.trimEnd().length }]) {
    if (!grammar[before.kind]?.split(" ").includes(token.kind)) {
      if (token.kind === "end") return { at: token.at, why: `something must follow ${before.text}` };
      return { at: token.at, why: `${token.text} is not expected here` };
    }
    before = token;
  }
  return undefined;
}

/** The one further to the left; of two at one place the former. */
function first(a: SyntaxProblem | undefined, b: SyntaxProblem | undefined): SyntaxProblem | undefined {
  return a === undefined || (b !== undefined && b.at < a.at) ? b : a;
}
