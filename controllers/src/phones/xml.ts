import type { UiNode } from "../screens/tree.ts";

/** Deeper screens than this are cut. */
const deepest = 200;
/** More nodes than this are not read. */
const most = 20_000;
/** Of one node; the rest is not read. */
const mostAttributes = 200;

/** The nodes directly below the container, the container's attributes, and whether the screen was cut. */
export type ScannedTree = { roots: UiNode[]; attributes: ReadonlyMap<string, string>; isCut: boolean };

/** Makes a node of the attributes of a tag. */
export type ToNode = (attributes: ReadonlyMap<string, string>, parent: UiNode | undefined) => UiNode;

/** Reads XML in which each tag below the container is a node. Undefined when it holds no whole container. */
export function scanTree(xml: string, container: string, toNode: ToNode): ScannedTree | undefined {
  const scanner = new Scanner(xml, container, toNode);
  for (let from = xml.indexOf(`<${container}`); from >= 0; ) {
    const to = endOfTag(xml, from);
    if (to < 0) return undefined;
    if (scanner.read(from, to)) return scanner.tree;
    from = xml.indexOf("<", to);
  }
  return undefined;
}

class Scanner {
  readonly tree: ScannedTree = { roots: [], attributes: new Map(), isCut: false };
  /** The nodes around the next tag; undefined for those that are not read. */
  private readonly open: (UiNode | undefined)[] = [];
  private count = 0;

  constructor(
    private readonly xml: string,
    private readonly container: string,
    private readonly toNode: ToNode,
  ) {}

  /** Reads the tag of this place; true when it ends the container. */
  read(from: number, to: number): boolean {
    const { xml } = this;
    if (xml.startsWith(`/${this.container}`, from + 1)) return true;
    const isClosed = xml[to - 1] === "/";
    if (xml[from + 1] === "/") this.open.pop();
    else if (xml.startsWith(this.container, from + 1)) {
      this.tree.attributes = attributesOf(xml, from, to);
      return isClosed;
    } else this.add(from, to, isClosed);
    return false;
  }

  private add(from: number, to: number, isClosed: boolean): void {
    const parent = this.open.at(-1);
    const isBelow = this.open.length === 0 || parent !== undefined;
    const isRead = this.count < most && this.open.length < deepest && isBelow;
    const node = isRead ? this.toNode(attributesOf(this.xml, from, to), parent) : undefined;
    if (node === undefined) this.tree.isCut = true;
    else {
      this.count++;
      (parent?.children ?? this.tree.roots).push(node);
    }
    if (!isClosed) this.open.push(node);
  }
}

/** The end of the tag that begins at `from`. A `>` within quotes does not end it. */
function endOfTag(xml: string, from: number): number {
  let end = xml.indexOf(">", from);
  for (let at = from; end >= 0; ) {
    // Not beyond the tag: many tags without a quote would each search all that follows.
    const quote = xml.slice(at, end).indexOf('"');
    if (quote < 0) return end;
    const closing = xml.indexOf('"', at + quote + 1);
    if (closing < 0) return -1;
    if (closing > end) end = xml.indexOf(">", closing);
    at = closing + 1;
  }
  return -1;
}

function attributesOf(xml: string, from: number, to: number): Map<string, string> {
  const tag = xml.slice(from, to);
  const attributes = new Map<string, string>();
  for (let at = 0; attributes.size < mostAttributes; ) {
    const equals = tag.indexOf('="', at);
    if (equals < 0) break;
    const closing = tag.indexOf('"', equals + 2);
    const name = tag.slice(at, equals);
    attributes.set(name.slice(name.lastIndexOf(" ") + 1), decoded(tag.slice(equals + 2, closing)));
    at = closing + 1;
  }
  return attributes;
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(value: string): string {
  if (!value.includes("&")) return value;
  return value.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (whole, hex, number, name) => {
      if (typeof name === "string") return named[name.toLowerCase()] ?? whole;
      const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(number);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
