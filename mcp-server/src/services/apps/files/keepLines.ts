type Lines = readonly string[];

/** `changed` with each line that it shares with `unchanged` as the author wrote it in `text`. */
export function withLinesOf(text: string, unchanged: string, changed: string): string {
  const written = text.split("\n");
  const old = unchanged.split("\n");
  const now = changed.split("\n");
  if (written.length !== old.length) return changed;
  const most = Math.min(old.length, now.length);
  let first = 0;
  while (first < most && old[first] === now[first]) first++;
  let last = 0;
  while (last < most - first && old.at(-1 - last) === now.at(-1 - last)) last++;
  const middle = places(old.slice(first, old.length - last), now.slice(first, now.length - last));
  const between = middle.map((place, at) => (place === undefined ? now[first + at] : written[first + place]));
  return [...written.slice(0, first), ...between, ...written.slice(written.length - last)].join("\n");
}

/** Where each line of `now` stands in `old`, by their longest common sequence; undefined for a new line. */
function places(old: Lines, now: Lines): (number | undefined)[] {
  const lengths = commonLengths(old, now);
  const found: (number | undefined)[] = now.map(() => undefined);
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) found[j++] = i++;
    else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) i++;
    else j++;
  }
  return found;
}

/** How many lines are common from each pair of places on. */
function commonLengths(old: Lines, now: Lines): Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    const [row, below] = lengths.slice(i, i + 2);
    for (let j = now.length - 1; row && below && j >= 0; j--)
      row[j] = old[i] === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return lengths;
}
