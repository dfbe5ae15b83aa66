import type { Selector, SelectorKind } from "../contract.ts";
import { byWorth, type Candidate, type Ranking, ranking, toSelector } from "./ranking.ts";
import type { ParsedSelector } from "./selectors.ts";
import { fold, TextMatcher, tidy } from "./text.ts";

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

/** The nodes that a selector means, in their order. A bare one means the name, or else the text. */
export function findNodes<One extends Node>(nodes: readonly One[], parsed: ParsedSelector): One[] {
  const named = nodes.filter((node) => isMeant(node, parsed));
  if (named.length > 0 || parsed.kind !== "any") return named;
  return nodes.filter(({ text }) => texts.holds(parsed.text, text));
}

function isMeant(node: Node, parsed: ParsedSelector): boolean {
  switch (parsed.kind) {
    case "id":
      return node.id === parsed.id;
    case "role":
      return node.role === parsed.role && (!parsed.name || texts.holds(parsed.name, node.name));
    case "label":
    case "any":
      return texts.holds(parsed.text, node.name);
    case "text":
      return texts.holds(parsed.text, node.text ?? node.name);
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
