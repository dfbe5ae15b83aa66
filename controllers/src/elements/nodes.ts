import type { Selector, SelectorKind } from "../contract.ts";
import { testPattern } from "./patterns.ts";
import { byWorth, type Candidate, type Ranking, ranking, toSelector } from "./ranking.ts";
import type { ParsedSelector } from "./selectors.ts";
import { fold, type TextMatch, TextMatcher, tidy } from "./text.ts";

/** What a driver knows of an element whose screen it reads as a list or a tree. `id` is the resource id. */
export type Node = {
  id?: string;
  role: string;
  /** The label or content description, else the text. */
  name: string;
  text?: string;
};

/** The kinds of selectors that nodes can be found by. */
export const nodeKinds = ["role", "label", "id", "text"] as const satisfies readonly SelectorKind[];

const texts = new TextMatcher(tidy);

/** The nodes that a selector means, in their order. A bare one means the name, or else the text. Throws INVALID_PARAMS for a slow pattern. */
export async function findNodes<One extends Node>(
  nodes: readonly One[],
  parsed: ParsedSelector,
): Promise<One[]> {
  const holds = await holderOf(nodes, parsed);
  const named = nodes.filter((node) => isMeant(node, parsed, holds));
  if (named.length > 0 || parsed.kind !== "any") return named;
  return nodes.filter(({ text }) => holds(parsed.text, text));
}

type Holds = (wanted: TextMatch, text: string | undefined) => boolean;

/** How texts are compared. What a pattern matches is found out for all texts at once. */
async function holderOf(nodes: readonly Node[], parsed: ParsedSelector): Promise<Holds> {
  const pattern = "text" in parsed ? parsed.text : parsed.kind === "role" ? parsed.name : undefined;
  if (pattern?.match !== "pattern")
    return (wanted, text) => wanted.match !== "pattern" && texts.holds(wanted, text);
  const all = [...new Set(nodes.flatMap(({ name, text = name }) => [name, text]))];
  const isHit = await testPattern(
    pattern,
    all.map((text) => texts.plain(text)),
  );
  const hits = new Set(all.filter((_, at) => isHit[at]));
  return (_, text) => text !== undefined && hits.has(text);
}

function isMeant(node: Node, parsed: ParsedSelector, holds: Holds): boolean {
  switch (parsed.kind) {
    case "id":
      return node.id === parsed.id;
    case "role":
      return node.role === parsed.role && (!parsed.name || holds(parsed.name, node.name));
    case "label":
    case "any":
      return holds(parsed.text, node.name);
    case "text":
      return holds(parsed.text, node.text ?? node.name);
    default:
      return false;
  }
}

/** Ranked selectors of one of the nodes, best first. */
export function nodeSelectors(
  node: Node,
  nodes: readonly Node[],
  weighing: Ranking = ranking,
): readonly Selector[] {
  const count = (holds: (other: Node) => boolean) => nodes.filter(holds).length;
  const isNamed = (other: Node) => fold(other.name) === fold(node.name);
  const candidates: Omit<Candidate, "score">[] = [];
  if (node.id !== undefined)
    candidates.push({ kind: "id", value: node.id, count: count(({ id }) => id === node.id) });
  if (node.name !== "") {
    const named = count((other) => other.role === node.role && isNamed(other));
    candidates.push(
      { kind: "role", role: node.role, value: node.name, count: named },
      { kind: "label", value: node.name, count: count(isNamed) },
    );
  }
  return candidates
    .map((candidate) => toSelector({ ...candidate, score: weighing.score(candidate) }))
    .toSorted(byWorth);
}
