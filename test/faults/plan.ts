/** What a fault does. `clock` moves a daemon's wall clock; its steady clock goes on. */
export const faultKinds = ["daemon", "browser", "bridge", "agent", "script", "postgres", "clock"] as const;
export type FaultKind = (typeof faultKinds)[number];
export type Fault = { kind: FaultKind; host: number; afterMs: number; jumpMs: number };
export type Round = readonly Fault[];

/** Numbers from 0 to 1 that follow from the seed alone (mulberry32, public domain). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const hour = 3_600_000;

/** Round number `round` of a seed: every kind comes in turn, and one or two others with it. */
export function planRound(seed: number, round: number, hosts: number): Round {
  const random = randomOf(seed * 1_000 + round);
  const pick = (count: number) => Math.floor(random() * count);
  const kinds = [faultKinds[round % faultKinds.length] ?? "daemon"];
  for (let more = 1 + pick(2); more > 0; more--) kinds.push(faultKinds[pick(faultKinds.length)] ?? "daemon");
  return kinds.map((kind) => ({
    kind,
    host: pick(hosts),
    afterMs: 200 + pick(1_800),
    jumpMs: (random() < 0.5 ? -1 : 1) * (1 + pick(24)) * hour,
  }));
}

export const planText = (round: Round): string =>
  round
    .map(({ kind, host, afterMs, jumpMs }) => {
      const jump = kind === "clock" ? ` by ${jumpMs / hour} h` : "";
      return `${kind} of host ${host}${jump} after ${afterMs} ms`;
    })
    .join(", ");
