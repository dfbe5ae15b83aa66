/**
 * One side of a shortest-path search: the best cost known of each node, the arc it was reached by, and a binary heap of
 * the nodes still open. Kept between searches; a stamp tells what belongs to the present one, so nothing is cleared.
 */
export class Frontier {
  size = 0;
  private search = 0;
  private cost = new Float64Array(0);
  private via = new Int32Array(0);
  private place = new Int32Array(0);
  private stamp = new Uint32Array(0);
  private heap = new Int32Array(0);

  begin(nodeCount: number): void {
    if (this.cost.length < nodeCount) {
      const length = Math.max(64, nodeCount * 2);
      this.cost = new Float64Array(length);
      this.via = new Int32Array(length);
      this.place = new Int32Array(length);
      this.stamp = new Uint32Array(length);
      this.heap = new Int32Array(length);
      this.search = 0;
    }
    this.search += 1;
    this.size = 0;
  }

  costOf(node: number): number {
    return this.stamp[node] === this.search ? (this.cost[node] ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** The arc that the best way to `node` ends with; -1 at the start. */
  viaOf(node: number): number {
    return this.via[node] ?? -1;
  }

  /** The lowest cost among open nodes; Infinity when none is open. */
  lowest(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.cost[this.heap[0] ?? 0] ?? 0);
  }

  /** Takes the way if it is better than the one known; says so. */
  offer(node: number, cost: number, via: number): boolean {
    if (cost >= this.costOf(node)) return false;
    const known = this.stamp[node] === this.search;
    this.cost[node] = cost;
    this.via[node] = via;
    this.stamp[node] = this.search;
    this.rise(known ? (this.place[node] ?? 0) : this.size++, node, cost);
    return true;
  }

  /** Closes and gives the open node of the lowest cost. Only while `size` is over 0. */
  take(): number {
    const top = this.heap[0] ?? 0;
    this.size -= 1;
    if (this.size > 0) this.sink(this.heap[this.size] ?? 0);
    return top;
  }

  private rise(from: number, node: number, cost: number): void {
    const { heap, place } = this;
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up] ?? 0;
      if ((this.cost[parent] ?? 0) <= cost) break;
      heap[at] = parent;
      place[parent] = at;
      at = up;
    }
    heap[at] = node;
    place[node] = at;
  }

  private sink(node: number): void {
    const { heap, place, cost } = this;
    const own = cost[node] ?? 0;
    let at = 0;
    for (let child = this.lowerChild(at); child < this.size; child = this.lowerChild(at)) {
      const below = heap[child] ?? 0;
      if ((cost[below] ?? 0) >= own) break;
      heap[at] = below;
      place[below] = at;
      at = child;
    }
    heap[at] = node;
    place[node] = at;
  }

  /** The place of the cheaper child; beyond the heap if there is none. */
  private lowerChild(at: number): number {
    const left = 2 * at + 1;
    const right = left + 1;
    if (right >= this.size) return left;
    const { heap, cost } = this;
    return (cost[heap[right] ?? 0] ?? 0) < (cost[heap[left] ?? 0] ?? 0) ? right : left;
  }
}
