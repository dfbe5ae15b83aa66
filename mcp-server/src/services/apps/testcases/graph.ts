import type { Block, Graph } from "../../../domain/index.ts";
import type { Problem } from "./types.ts";

const isTerminal = (block: Block) => block.type === "success" || block.type === "failure";

/** A place in a graph and not a thing to run. */
export const isMarker = (block: Block) => block.type === "start" || isTerminal(block);

/** Every block below a graph with its path, loops' bodies included, in order. */
export function allBlocks(graph: Graph, prefix = ""): { block: Block; path: string; inLoop: boolean }[] {
  return graph.blocks.flatMap((block) => {
    const path = `${prefix}${block.id}`;
    const own = { block, path, inLoop: prefix !== "" };
    return block.type === "loop" ? [own, ...allBlocks(block.body, `${path}/`)] : [own];
  });
}

/** What is wrong with a graph: starts, ids, edges, reach, ends, cycles and loops' fields, bodies of loops included. */
export function graphProblems(graph: Graph, prefix = ""): Problem[] {
  const problem = (id: string, message: string): Problem => ({
    path: id === "" ? prefix.replace(/\/$/, "") : `${prefix}${id}`,
    code: "TESTCASE_INVALID",
    message,
  });
  const known = new Map(graph.blocks.map((block) => [block.id, block]));
  const problems = [
    ...markerProblems(graph).map((message) => problem("", message)),
    ...edgeProblems(graph, known).map(({ id, message }) => problem(id, message)),
  ];
  const start = graph.blocks.find(({ type }) => type === "start");
  if (start && problems.length === 0) {
    problems.push(...reachProblems(graph, start).map(({ id, message }) => problem(id, message)));
  }
  for (const block of graph.blocks) {
    if (block.type !== "loop") continue;
    if ((block.iterations === undefined) === (block.while === undefined)) {
      problems.push(problem(block.id, "a loop has either iterations or while"));
    }
    problems.push(...graphProblems(block.body, `${prefix}${block.id}/`));
  }
  return problems;
}

function markerProblems({ blocks }: Graph): string[] {
  const starts = blocks.filter(({ type }) => type === "start").length;
  // Ids of other blocks name data, so they are checked over the whole test.
  const twice = blocks.filter((block, index) => {
    const first = blocks.findIndex(({ id }) => id === block.id);
    return first < index && [block, blocks[first]].some((one) => one && isMarker(one));
  });
  return [
    ...(starts === 1 ? [] : [`exactly one start block is needed, not ${starts}`]),
    ...twice.map(({ id }) => `the block id "${id}" is used twice`),
  ];
}

type Local = { id: string; message: string };

function edgeProblems(graph: Graph, known: ReadonlyMap<string, Block>): Local[] {
  const taken = new Set<string>();
  return graph.edges.flatMap((edge) => {
    const key = `${edge.from} ${edge.on}`;
    const twice = taken.has(key) ? [`two edges leave it on ${edge.on}`] : [];
    taken.add(key);
    return [...endsOf(edge, known), ...twice].map((message) => ({ id: edge.from, message }));
  });
}

function endsOf({ from, to, on }: Graph["edges"][number], known: ReadonlyMap<string, Block>): string[] {
  const messages: string[] = [];
  const source = known.get(from);
  if (!source) messages.push(`an edge leaves the unknown block "${from}"`);
  if (!known.has(to)) messages.push(`an edge leads to the unknown block "${to}"`);
  if (source && isTerminal(source)) messages.push("an edge leaves an end");
  if (source?.type === "start" && on === "failure") messages.push("start never fails");
  return messages;
}

/** For a graph with valid edges: what is not reached, what never ends, and cycles. */
function reachProblems(graph: Graph, start: Block): Local[] {
  const next = grouped(graph.edges.map(({ from, to }) => [from, to] as const));
  const before = grouped(graph.edges.map(({ from, to }) => [to, from] as const));
  const reached = closure([start.id], next);
  const ends = graph.blocks.filter(isTerminal).map(({ id }) => id);
  const ending = closure(ends, before);
  const goesOn = new Set([
    ...ends,
    ...graph.edges.filter(({ on }) => on === "success").map(({ from }) => from),
  ]);
  const problems = graph.blocks.flatMap(({ id }): Local[] => {
    if (!reached.has(id)) return [{ id, message: "cannot be reached from start" }];
    if (!ending.has(id)) return [{ id, message: "has no path to a success or failure block" }];
    return goesOn.has(id) ? [] : [{ id, message: "has no edge for success" }];
  });
  const cycle = findCycle(start.id, next);
  if (!cycle) return problems;
  return [...problems, { id: "", message: `${cycle.join(" -> ")} is a cycle; use a loop block to repeat` }];
}

function grouped(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

function closure(from: readonly string[], next: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const to of next.get(id) ?? []) seen.add(to);
  return seen;
}

/** The first cycle that a walk from `id` meets, its first block again at its end. */
function findCycle(
  id: string,
  next: ReadonlyMap<string, readonly string[]>,
  path: readonly string[] = [],
  done = new Set<string>(),
): string[] | undefined {
  const again = path.indexOf(id);
  if (again >= 0) return [...path.slice(again), id];
  if (done.has(id)) return undefined;
  for (const to of next.get(id) ?? []) {
    const cycle = findCycle(to, next, [...path, id], done);
    if (cycle) return cycle;
  }
  done.add(id);
  return undefined;
}
