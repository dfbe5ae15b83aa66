import { Uia2Failure } from "./failure.ts";
import { everyNode, type TreeNode } from "./tree.ts";

type Argument = string | number | boolean | Chain;
type Call = { name: string; given: readonly Argument[] };
/** `new Name(given).call(given)…` */
type Chain = { type: string; given: readonly Argument[]; calls: readonly Call[] };

export type UiQuery =
  | { kind: "find"; select: Select }
  /** Scroll what `area` finds until `select` finds something. */
  | { kind: "scroll"; area: Select; select: Select };
type Select = (from: TreeNode) => TreeNode[];

export function readUiQuery(source: string): UiQuery {
  const chain = new Reader(source).read();
  if (chain.type === "UiSelector") return { kind: "find", select: selectBy(chain) };
  const [area] = chain.given;
  const last = chain.calls.at(-1);
  if (chain.type !== "UiScrollable" || !isChain(area) || !last) throw wrong(source);
  return { kind: "scroll", area: selectBy(area), select: scrollTarget(last, source) };
}

function scrollTarget({ name, given }: Call, source: string): Select {
  const [first, second] = given;
  if (name === "scrollIntoView" && isChain(first)) return selectBy(first);
  if (name === "scrollTextIntoView") return matching((node) => node.attributes.get("text") === first);
  if (name === "scrollDescriptionIntoView")
    return matching((node) => node.attributes.get("content-desc") === first);
  if (name === "getChildByText" && isChain(first)) {
    return (from) => selectBy(first)(from).filter((node) => node.attributes.get("text") === second);
  }
  throw wrong(source);
}

const isChain = (one: Argument | undefined): one is Chain => typeof one === "object";
const wrong = (source: string) =>
  new Uia2Failure(
    "invalid selector",
    `Could not parse expression \`${source}\`: no UiSelector that is known here`,
  );

const matching =
  (isWanted: (node: TreeNode) => boolean): Select =>
  (from) =>
    [...everyNode(from)].filter(isWanted);

type Test = (value: string, given: Argument | undefined) => boolean;
const equals: Test = (value, given) => value === String(given);
const includes: Test = (value, given) => value.toLowerCase().includes(String(given).toLowerCase());
const startsWith: Test = (value, given) => value.toLowerCase().startsWith(String(given).toLowerCase());
const matches: Test = (value, given) => pattern(String(given)).test(value);

function pattern(source: string): RegExp {
  try {
    return new RegExp(`^(?:${source})$`, "s");
  } catch {
    throw new Uia2Failure("invalid selector", `${source} is not a regular expression`);
  }
}

const tests: Readonly<Record<string, { attribute: string; test: Test }>> = {
  text: { attribute: "text", test: equals },
  textContains: { attribute: "text", test: includes },
  textStartsWith: { attribute: "text", test: startsWith },
  textMatches: { attribute: "text", test: matches },
  description: { attribute: "content-desc", test: equals },
  descriptionContains: { attribute: "content-desc", test: includes },
  descriptionStartsWith: { attribute: "content-desc", test: startsWith },
  descriptionMatches: { attribute: "content-desc", test: matches },
  resourceId: { attribute: "resource-id", test: equals },
  resourceIdMatches: { attribute: "resource-id", test: matches },
  className: { attribute: "class", test: equals },
  classNameMatches: { attribute: "class", test: matches },
  packageName: { attribute: "package", test: equals },
  packageNameMatches: { attribute: "package", test: matches },
  index: { attribute: "index", test: equals },
  longClickable: { attribute: "long-clickable", test: equals },
  ...Object.fromEntries(
    ["checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "selected"].map(
      (name) => [name, { attribute: name, test: equals }],
    ),
  ),
};

function selectBy({ calls }: Chain): Select {
  const own = calls.filter(({ name }) => name in tests);
  const instance = calls.find(({ name }) => name === "instance")?.given[0];
  const child = calls.find(({ name }) => name === "childSelector")?.given[0];
  const sibling = calls.find(({ name }) => name === "fromParent")?.given[0];
  const unknown = calls.find(({ name }) => !(name in tests) && !navigation.includes(name));
  if (unknown) throw new Uia2Failure("invalid selector", `UiSelector has no ${unknown.name}`);
  return (from) => {
    const found = [...everyNode(from)].filter((node) => own.every((call) => holds(node, call)));
    const chosen = instance === undefined ? found : found.slice(Number(instance), Number(instance) + 1);
    const [first] = chosen;
    if (isChain(child)) return first ? selectBy(child)(first) : [];
    if (isChain(sibling)) return first?.parent ? selectBy(sibling)(first.parent) : [];
    return chosen;
  };
}

const navigation = ["instance", "childSelector", "fromParent"];

function holds(node: TreeNode, { name, given }: Call): boolean {
  const { attribute, test } = tests[name] ?? {};
  return attribute !== undefined && test?.(node.attributes.get(attribute) ?? "", given[0]) === true;
}

class Reader {
  readonly #source: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = source.match(/"(?:[^"\\]|\\.)*"|[\w.]*\w|\S/g) ?? [];
  }

  read(): Chain {
    const chain = this.#chain();
    if (this.#peek() === ";") this.#at += 1;
    if (this.#peek() !== undefined) throw wrong(this.#source);
    return chain;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(): string {
    const token = this.#peek();
    if (token === undefined) throw wrong(this.#source);
    this.#at += 1;
    return token;
  }

  #chain(): Chain {
    if (this.#peek() === "new") this.#take();
    const type = this.#take();
    const given = this.#given();
    const calls: Call[] = [];
    while (this.#peek()?.startsWith(".")) calls.push({ name: this.#name(), given: this.#given() });
    return { type, given, calls };
  }

  #name(): string {
    const token = this.#take();
    return token === "." ? this.#take() : token.slice(1);
  }

  #given(): Argument[] {
    const given: Argument[] = [];
    if (this.#take() !== "(") throw wrong(this.#source);
    while (this.#peek() !== ")") {
      if (given.length > 0 && this.#take() !== ",") throw wrong(this.#source);
      given.push(this.#argument());
    }
    this.#take();
    return given;
  }

  #argument(): Argument {
    const token = this.#peek() ?? "";
    if (token.startsWith('"')) return unescaped(this.#take());
    if (/^\d+$/.test(token)) return Number(this.#take());
    if (token === "true" || token === "false") return this.#take() === "true";
    return this.#chain();
  }
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
const unescaped = (quoted: string): string =>
  quoted.slice(1, -1).replace(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter);
