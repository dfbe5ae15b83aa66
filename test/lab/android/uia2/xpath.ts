import { Uia2Failure } from "./failure.ts";
import { everyNode, type TreeNode } from "./tree.ts";

/**
 * The part of XPath 1 that people write for a screen: paths and unions, the axes up, down and aside, and predicates with
 * places, attributes, comparisons and the usual functions. Anything else is an invalid selector.
 */
export function selectByXPath(from: TreeNode, path: string): TreeNode[] {
  const reader = new Reader(path);
  const union = readUnion(reader);
  if (!reader.isAtEnd()) throw reader.failure();
  return inOrder(from, union(from));
}

type Value = string | number | boolean | undefined;
type Place = { node: TreeNode; position: number; size: number };
type Expression = (place: Place) => Value;
type Select = (from: TreeNode) => TreeNode[];
type Step = (nodes: readonly TreeNode[]) => TreeNode[];

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(readonly path: string) {
    const found = path.match(
      /"[^"]*"|'[^']*'|\/\/|::|\.\.|!=|<=|>=|\d+(?:\.\d+)?|[\w$-][\w.$-]*|[/.@*|()[\],=<>]|\S/g,
    );
    this.#tokens = found ?? [];
  }

  isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(ahead = 0): string {
    return this.#tokens[this.#at + ahead] ?? "";
  }

  take(): string {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  accept(token: string): boolean {
    if (this.peek() !== token) return false;
    this.#at += 1;
    return true;
  }

  expect(token: string): void {
    if (!this.accept(token)) throw this.failure();
  }

  failure(): Uia2Failure {
    return new Uia2Failure("invalid selector", `Could not read the XPath ${this.path} at "${this.peek()}"`);
  }
}

function readUnion(reader: Reader): Select {
  const paths = [readPath(reader)];
  while (reader.accept("|")) paths.push(readPath(reader));
  return (from) => [...new Set(paths.flatMap((path) => path(from)))];
}

function readPath(reader: Reader): Select {
  const steps: Step[] = [];
  let start: Select = (from) => [from];
  if (reader.accept("(")) {
    start = readUnion(reader);
    reader.expect(")");
    steps.push(readPredicates(reader));
  } else if (reader.peek() === "/" || reader.peek() === "//") {
    start = (from) => [documentOf(from)];
  } else steps.push(readStep(reader));
  for (;;) {
    if (reader.accept("//")) steps.push((nodes) => nodes.flatMap((node) => [node, ...everyNode(node)]));
    else if (!reader.accept("/")) break;
    steps.push(readStep(reader));
  }
  return (from) => steps.reduce((nodes, step) => step(nodes), start(from));
}

/** What the path starts from stands above the hierarchy, so that `/hierarchy` finds it. */
function documentOf(node: TreeNode): TreeNode {
  let top = node;
  while (top.parent) top = top.parent;
  return { tag: "", attributes: new Map(), node: undefined, parent: undefined, children: [top] };
}

const siblings = (node: TreeNode): readonly TreeNode[] => node.parent?.children ?? [node];
const axes: Readonly<Record<string, (node: TreeNode) => TreeNode[]>> = {
  child: ({ children }) => children,
  descendant: (node) => [...everyNode(node)],
  "descendant-or-self": (node) => [node, ...everyNode(node)],
  self: (node) => [node],
  parent: ({ parent }) => (parent ? [parent] : []),
  ancestor: (node) => [...above(node)],
  "following-sibling": (node) => siblings(node).slice(siblings(node).indexOf(node) + 1),
  "preceding-sibling": (node) => siblings(node).slice(0, siblings(node).indexOf(node)).toReversed(),
};

function* above({ parent }: TreeNode): Generator<TreeNode> {
  for (let one = parent; one; one = one.parent) yield one;
}

function readStep(reader: Reader): Step {
  if (reader.accept(".."))
    return (nodes) => [...new Set(nodes.flatMap(({ parent }) => (parent ? [parent] : [])))];
  if (reader.accept(".")) return (nodes) => [...nodes];
  let axis = axes.child;
  if (reader.peek(1) === "::") {
    axis = axes[reader.take()];
    reader.take();
  }
  const name = reader.take();
  if (!axis || !/^(\*|[\w$][\w.$-]*)$/.test(name)) throw reader.failure();
  const predicates = readPredicates(reader);
  const found = axis;
  // Places count among the children of one node, so each node's are judged by themselves.
  return (nodes) => {
    const kept = nodes.flatMap((node) =>
      predicates(found(node).filter(({ tag }) => name === "*" || tag === name)),
    );
    return [...new Set(kept)];
  };
}

function readPredicates(reader: Reader): Step {
  const predicates: Expression[] = [];
  while (reader.accept("[")) {
    predicates.push(readOr(reader));
    reader.expect("]");
  }
  return (nodes) =>
    predicates.reduce<TreeNode[]>(
      (kept, predicate) =>
        kept.filter((node, index) => {
          const value = predicate({ node, position: index + 1, size: kept.length });
          return typeof value === "number" ? value === index + 1 : Boolean(value);
        }),
      [...nodes],
    );
}

function readOr(reader: Reader): Expression {
  const parts = [readAnd(reader)];
  while (reader.accept("or")) parts.push(readAnd(reader));
  return parts.length === 1 && parts[0] ? parts[0] : (place) => parts.some((part) => Boolean(part(place)));
}

function readAnd(reader: Reader): Expression {
  const parts = [readComparison(reader)];
  while (reader.accept("and")) parts.push(readComparison(reader));
  return parts.length === 1 && parts[0] ? parts[0] : (place) => parts.every((part) => Boolean(part(place)));
}

const comparisons: Readonly<Record<string, (one: Value, other: Value) => boolean>> = {
  "=": (one, other) => one !== undefined && other !== undefined && alike(one, other),
  "!=": (one, other) => one !== undefined && other !== undefined && !alike(one, other),
  "<": (one, other) => Number(one) < Number(other),
  ">": (one, other) => Number(one) > Number(other),
  "<=": (one, other) => Number(one) <= Number(other),
  ">=": (one, other) => Number(one) >= Number(other),
};

const alike = (one: Value, other: Value) =>
  typeof one === "number" || typeof other === "number" ? Number(one) === Number(other) : one === other;

function readComparison(reader: Reader): Expression {
  const one = readValue(reader);
  const compare = comparisons[reader.peek()];
  if (!compare) return one;
  reader.take();
  const other = readValue(reader);
  return (place) => compare(one(place), other(place));
}

const text = (value: Value) => String(value ?? "");
const functions: Readonly<Record<string, (place: Place, given: readonly Value[]) => Value>> = {
  contains: (_, [all, part]) => text(all).includes(text(part)),
  "starts-with": (_, [all, part]) => text(all).startsWith(text(part)),
  "normalize-space": (_, [all]) => text(all).trim().replace(/\s+/g, " "),
  "string-length": (_, [all]) => text(all).length,
  not: (_, [value]) => !value,
  last: ({ size }) => size,
  position: ({ position }) => position,
  true: () => true,
  false: () => false,
};

function readValue(reader: Reader): Expression {
  const token = reader.take();
  if (token === "@") {
    const name = reader.take();
    return ({ node }) => node.attributes.get(name);
  }
  if (/^["']/.test(token)) return () => token.slice(1, -1);
  if (/^\d/.test(token)) return () => Number(token);
  if (token === "(") {
    const inner = readOr(reader);
    reader.expect(")");
    return inner;
  }
  const call = functions[token];
  if (!call || !reader.accept("(")) throw reader.failure();
  const given: Expression[] = [];
  while (!reader.accept(")")) {
    if (given.length > 0) reader.expect(",");
    given.push(readOr(reader));
  }
  return (place) =>
    call(
      place,
      given.map((one) => one(place)),
    );
}

function inOrder(from: TreeNode, nodes: readonly TreeNode[]): TreeNode[] {
  const wanted = new Set(nodes);
  return [...everyNode(documentOf(from))].filter((node) => wanted.has(node));
}
