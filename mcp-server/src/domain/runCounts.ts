/** Other words for a status in a summary. A flaky run is not counted among the passed. */
const words: Readonly<Record<string, string>> = {
  timeout: "error",
  queued: "not ended",
  running: "not ended",
};
const order = ["passed", "failed", "error", "flaky"];

export type CountedRun = { status: string; flaky?: boolean | undefined };

/** How many runs ended how, each run in one count. `passed` is always there. */
export function countsOf(runs: readonly CountedRun[]): { word: string; count: number }[] {
  const counts = new Map([["passed", 0]]);
  for (const { status, flaky } of runs) {
    const word = flaky ? "flaky" : (words[status] ?? status);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const place = (word: string) => (order.includes(word) ? order.indexOf(word) : order.length);
  return [...counts]
    .sort(([a], [b]) => place(a) - place(b))
    .map(([word, count]) => ({ word: word === "error" && count > 1 ? "errors" : word, count }));
}

/** Such as `8 runs: 5 passed, 1 failed, 1 error, 1 flaky, 2 skipped`. Skipped tests are not among the runs. */
export function countText(runs: readonly CountedRun[], skipped = 0): string {
  const parts = countsOf(runs).map(({ word, count }) => `${count} ${word}`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return `${runs.length} ${runs.length === 1 ? "run" : "runs"}: ${parts.join(", ")}`;
}
