import { capFactor } from "../userinterfaces/weights.ts";

const none = -1;
/** The cap while nothing has a weight; far above any path of real edges. */
const capOfNothing = 1e9;

/**
 * Directed arcs between numbered nodes, in typed arrays: each node heads a linked list of the arcs out of it and one of
 * those into it, so that an arc comes or goes without touching the others. Numbers of removed arcs and nodes are reused.
 */
export class Arcs {
  from = new Int32Array(64);
  to = new Int32Array(64);
  /** Milliseconds; 0 for an arc that costs nothing, Infinity for one that never worked. */
  weight = new Float64Array(64);
  /** Added to the capped weight; so small that it only decides between equal sums. */
  tie = new Float64Array(64);
  nextOut = new Int32Array(64);
  nextIn = new Int32Array(64);
  firstOut = new Int32Array(64);
  firstIn = new Int32Array(64);
  nodeCount = 0;
  private arcCount = 0;
  private freeNodes: number[] = [];
  private freeArcs: number[] = [];
  private capMs: number | undefined;

  addNode(): number {
    const node = this.freeNodes.pop() ?? this.nodeCount++;
    if (node >= this.firstOut.length) {
      this.firstOut = grown(this.firstOut);
      this.firstIn = grown(this.firstIn);
    }
    this.firstOut[node] = none;
    this.firstIn[node] = none;
    return node;
  }

  /** The node must have no arcs left. */
  removeNode(node: number): void {
    this.freeNodes.push(node);
  }

  addArc(from: number, to: number, weight: number, tie: number): number {
    const arc = this.freeArcs.pop() ?? this.arcCount++;
    if (arc >= this.from.length) this.growArcs();
    this.from[arc] = from;
    this.to[arc] = to;
    this.weight[arc] = weight;
    this.tie[arc] = tie;
    this.nextOut[arc] = this.firstOut[from] ?? none;
    this.firstOut[from] = arc;
    this.nextIn[arc] = this.firstIn[to] ?? none;
    this.firstIn[to] = arc;
    this.capMs = undefined;
    return arc;
  }

  removeArc(arc: number): void {
    unlink(this.firstOut, this.nextOut, this.from[arc] ?? none, arc);
    unlink(this.firstIn, this.nextIn, this.to[arc] ?? none, arc);
    this.weight[arc] = 0;
    this.freeArcs.push(arc);
    this.capMs = undefined;
  }

  setWeight(arc: number, weight: number): void {
    this.weight[arc] = weight;
    this.capMs = undefined;
  }

  costOf(arc: number, cap: number): number {
    const own = this.weight[arc] ?? 0;
    return (own < cap ? own : cap) + (this.tie[arc] ?? 0);
  }

  outOf(node: number): number[] {
    return listed(this.firstOut, this.nextOut, node);
  }

  into(node: number): number[] {
    return listed(this.firstIn, this.nextIn, node);
  }

  /** No arc counts for more than this: 20 times the median weight. Worked out anew only after a change. */
  cap(): number {
    this.capMs ??= capOf(this.weight.subarray(0, this.arcCount));
    return this.capMs;
  }

  private growArcs(): void {
    this.from = grown(this.from);
    this.to = grown(this.to);
    this.nextOut = grown(this.nextOut);
    this.nextIn = grown(this.nextIn);
    const weight = new Float64Array(this.weight.length * 2);
    weight.set(this.weight);
    this.weight = weight;
    const tie = new Float64Array(this.tie.length * 2);
    tie.set(this.tie);
    this.tie = tie;
  }
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function unlink(first: Int32Array, next: Int32Array, node: number, arc: number): void {
  let before = none;
  let current = first[node] ?? none;
  while (current !== arc && current !== none) {
    before = current;
    current = next[current] ?? none;
  }
  if (current === none) return;
  if (before === none) first[node] = next[arc] ?? none;
  else next[before] = next[arc] ?? none;
}

function listed(first: Int32Array, next: Int32Array, node: number): number[] {
  const arcs: number[] = [];
  for (let arc = first[node] ?? none; arc !== none; arc = next[arc] ?? none) arcs.push(arc);
  return arcs;
}

function capOf(weights: Float64Array): number {
  const known = weights.filter((weight) => weight > 0 && weight < Number.POSITIVE_INFINITY).sort();
  const median = known[known.length >> 1];
  return median === undefined ? capOfNothing : median * capFactor;
}
