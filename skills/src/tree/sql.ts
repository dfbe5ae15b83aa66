import { bounded, NoValue, placeholder, textAt, valueAt } from "./placeholders.ts";
import type { BoundSql, Scope } from "./types.ts";

/** The parts of SQL in which a brace, a dollar or a semicolon means something else, and those signs. */
const token =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?\*\/)|(?<dollar>\$(?<tag>[A-Za-z_]\w*|)\$[\s\S]*?\$\k<tag>\$)|(?<escaped>\b[eE]'(?:[^'\\]|''|\\[\s\S])*')|(?<text>'(?:[^']|'')*')|(?<name>"(?:[^"]|"")*"|`[^`]*`)|(?<open>'|"|`|\/\*|\$(?:[A-Za-z_]\w*)?\$)|(?<number>\$\d+)|(?<end>;)|(?<value>\{[A-Za-z_]\w*(?:\.\w+)*\})|(?<typed>\{\w+:)/g;

type Found = { kind: string; text: string; at: number };

/** Looks for the next part only when it is asked for: behind a quote that is not closed each sign is looked up to the end. */
function* tokensOf(template: string): Generator<Found> {
  for (const match of template.matchAll(token)) {
    const [kind = ""] =
      Object.entries(match.groups ?? {}).find(([name, text]) => name !== "tag" && text !== undefined) ?? [];
    yield { kind, text: match[0], at: match.index };
  }
}

const hasPlaceholder = (text: string): boolean => text.replaceAll("{{", "").search(placeholder) >= 0;

const refusals: Readonly<Record<string, (text: string) => string | undefined>> = {
  open: (text) => `the quote or comment that ${text} opens is not closed`,
  number: (text) => `${text} has no value here; write a placeholder such as {load.id}`,
  typed: (text) => `${text}…} has no value here; write a placeholder such as {load.id}`,
  name: (text) =>
    hasPlaceholder(text) ? `${text}: the name of a table or column cannot be a value` : undefined,
  dollar: (text) => (hasPlaceholder(text) ? "a placeholder cannot be within $$ quotes" : undefined),
  escaped: (text) => (hasPlaceholder(text) ? "a placeholder cannot be within E'' quotes" : undefined),
};

/** Why SQL cannot be bound, or undefined. */
export function bindProblem(template: string): string | undefined {
  for (const { kind, text, at } of tokensOf(template)) {
    const problem = refusals[kind]?.(text);
    if (problem !== undefined) return problem;
    if (
      kind === "end" &&
      template
        .slice(at + 1)
        .replace(/--[^\n]*/g, "")
        .trim() !== ""
    )
      return "has more than one statement; write one";
  }
  return undefined;
}

/**
 * Binds the placeholders of one SQL statement: `{load.id}`, `'{load.id}'` and `'%{load.id}%'` each become a parameter, so no
 * value is ever part of the SQL. In quotes a value is bound as text, else with its own type. Within quotes `{{name}}` stands for
 * {name}; other braces are text. Comments are left out. Throws {@link NoValue} for a value that is missing, null or an object, and for
 * SQL that {@link bindProblem} refuses.
 */
export function bindSql(template: string, scope: Scope): BoundSql {
  const problem = bindProblem(template);
  if (problem !== undefined) throw new NoValue(`the SQL ${problem}`);
  const pieces = [""];
  const params: unknown[] = [];
  const add = (text: string) => {
    pieces[pieces.length - 1] += text;
  };
  const bind = (value: unknown) => {
    params.push(value);
    pieces.push("");
  };
  let done = 0;
  for (const { kind, text, at } of tokensOf(template)) {
    add(template.slice(done, at));
    done = at + text.length;
    if (kind === "comment") add(" ");
    else if (kind === "value") bind(plain(text.slice(1, -1), scope));
    else if (kind === "text") quoted(text, scope, add, bind);
    else if (kind !== "end") add(text);
  }
  add(template.slice(done));
  const sql = pieces.map((piece, index) => (index === 0 ? piece : `$${index}${piece}`)).join("");
  return { sql, params, pieces };
}

function plain(name: string, scope: Scope): unknown {
  const value = valueAt(name, scope);
  if (typeof value === "object" && !isListOfPlain(value))
    throw new NoValue(`${name} is an object, and SQL takes texts, numbers, true, false or lists of them`);
  return value;
}

const isListOfPlain = (value: object): boolean =>
  Array.isArray(value) && value.every((item) => item !== null && typeof item !== "object");

/** A text in quotes, with its quotes. */
function quoted(
  text: string,
  scope: Scope,
  add: (text: string) => void,
  bind: (value: unknown) => void,
): void {
  const inner = text.slice(1, -1);
  let value = "";
  let done = 0;
  let isValue = false;
  for (const match of inner.matchAll(/\{\{([A-Za-z_][\w.]*)\}\}|\{([A-Za-z_]\w*(?:\.\w+)*)\}/g)) {
    const [all, single, name] = match;
    value += inner.slice(done, match.index).replaceAll("''", "'");
    done = match.index + all.length;
    value = bounded(value + (name === undefined ? `{${single}}` : textAt(name, scope)));
    isValue ||= name !== undefined;
  }
  value += inner.slice(done).replaceAll("''", "'");
  if (isValue) bind(value);
  else add(`'${value.replaceAll("'", "''")}'`);
}
