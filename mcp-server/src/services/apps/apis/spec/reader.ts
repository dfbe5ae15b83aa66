import { escaped, SpecProblem } from "./parseText.ts";

/** A value with its place: the address of its document and the JSON Pointer in it. */
export type SpecNode = { value: unknown; document: string; pointer: string };
export type Members = Readonly<Record<string, unknown>>;

const mostHops = 50;
const mostProblems = 20;

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Walks documents that refer to each other, and collects what is wrong with them. */
export class Reader {
  /** Wrong types: with one of them the document cannot be used. */
  readonly problems: string[] = [];
  /** What was left out or read otherwise than it is written. */
  readonly warnings = new Set<string>();
  /** Documents that are referred to and not among `documents`. */
  readonly missing = new Set<string>();

  constructor(
    readonly root: string,
    private readonly documents: ReadonlyMap<string, unknown>,
  ) {}

  start(): SpecNode {
    return { value: this.documents.get(this.root), document: this.root, pointer: "" };
  }

  /** A member, with references followed. Undefined where there is none. */
  child(node: SpecNode, key: string | number): SpecNode | undefined {
    const own = this.own(node, key);
    return own && this.follow(own);
  }

  /** A member as it stands. */
  own(node: SpecNode, key: string | number): SpecNode | undefined {
    const { value, document, pointer } = node;
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    const own: unknown = Reflect.get(value, key);
    if (own === undefined || own === null) return undefined;
    return { value: own, document, pointer: `${pointer}/${escaped(String(key))}` };
  }

  /** The members of an object. A problem, and none, for anything else. */
  members(node: SpecNode | undefined): { key: string; node: SpecNode }[] {
    return Object.keys(this.object(node)).flatMap((key) => {
      const found = node && this.child(node, key);
      return found ? [{ key, node: found }] : [];
    });
  }

  object(node: SpecNode | undefined): Members {
    if (node === undefined) return {};
    if (isObject(node.value)) return node.value;
    this.wrong(node, "an object");
    return {};
  }

  items(node: SpecNode | undefined): SpecNode[] {
    if (node === undefined) return [];
    if (Array.isArray(node.value)) return node.value.flatMap((_, index) => this.child(node, index) ?? []);
    this.wrong(node, "a list");
    return [];
  }

  /** A text; a number or a truth value as it is written. Undefined, with a warning, for anything else. */
  text(node: SpecNode, key: string): string | undefined {
    const found = this.own(node, key);
    if (found === undefined) return undefined;
    if (typeof found.value === "string") return found.value;
    if (typeof found.value === "number" || typeof found.value === "boolean") return String(found.value);
    this.warn(found, "is not a text and was left out");
    return undefined;
  }

  flag(node: SpecNode, key: string): boolean {
    return this.own(node, key)?.value === true;
  }

  texts(node: SpecNode, key: string): string[] {
    const found = this.own(node, key);
    if (found === undefined) return [];
    if (Array.isArray(found.value))
      return found.value.filter((one): one is string => typeof one === "string");
    this.warn(found, "is not a list and was left out");
    return [];
  }

  /** Follows `$ref`, if there is one, to its end. Undefined, with a warning, where it leads nowhere. */
  follow(node: SpecNode): SpecNode | undefined {
    let at = node;
    for (let hop = 0; hop < mostHops; hop++) {
      const ref = isObject(at.value) ? at.value.$ref : undefined;
      if (typeof ref !== "string") return at;
      const target = this.target(at, ref);
      if (target === undefined) return undefined;
      at = target;
    }
    this.problem(node, "refers to itself");
    return undefined;
  }

  /** What a reference leads to. Undefined, with a warning, where it leads nowhere. */
  target(from: SpecNode, ref: string): SpecNode | undefined {
    const place = placeOf(from, ref);
    if (place === undefined) return this.nowhere(from, ref);
    const { document, pointer } = place;
    if (!this.documents.has(document)) {
      this.missing.add(document);
      return undefined;
    }
    const value = valueAt(this.documents.get(document), pointer);
    return value === undefined ? this.nowhere(from, ref) : { value, document, pointer };
  }

  private nowhere(from: SpecNode, ref: string): undefined {
    this.warn(from, `refers to ${ref.slice(0, 200)}, which does not exist`);
  }

  wrong(node: SpecNode, wanted: string): void {
    this.problem(node, `must be ${wanted}; it is ${kindOf(node.value)}`);
  }

  problem(node: SpecNode, what: string): void {
    this.problems.push(`${this.placeText(node)} ${what}`);
    if (this.problems.length >= mostProblems) throw new SpecProblem(this.problems.join("; "));
  }

  warn(node: SpecNode, what: string): void {
    this.warnings.add(`${this.placeText(node)} ${what}`);
  }

  private placeText({ document, pointer }: SpecNode): string {
    const place = `#${pointer}`;
    return document === this.root ? place : `${document.replace(/^file:\/\/\//, "")}${place}`;
  }
}

/** The document and pointer that a reference names; undefined for one by anchor, or one that is not an address. */
function placeOf(from: Pick<SpecNode, "document">, ref: string) {
  const [address = "", fragment = ""] = ref.split("#", 2);
  if (fragment !== "" && !fragment.startsWith("/")) return undefined;
  if (address !== "" && !URL.canParse(address, from.document)) return undefined;
  const document = address === "" ? from.document : new URL(address, from.document).href;
  return { document, pointer: decoded(fragment) };
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function valueAt(root: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce((value: unknown, part) => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, key);
      return isThere ? Reflect.get(value, key) : undefined;
    }, root);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `${typeof value} ${JSON.stringify(value)?.slice(0, 60)}`;
}
