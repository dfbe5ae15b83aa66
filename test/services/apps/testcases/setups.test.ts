import { expect, test } from "vitest";
import { Setups } from "#mcp-server/services/apps/testcases/freshStart.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";

const NEVER = new AbortController().signal;
const bad = { ok: false, kind: "behaviour", code: "VERIFICATION_FAILED", message: "no" } as const;

function making() {
  const ends: ((end: { ok: true } | typeof bad) => void)[] = [];
  const make = () => new Promise<{ ok: true } | typeof bad>((resolve) => void ends.push(resolve));
  return { ends, make };
}

test("of several runs that want a set-up at once, one makes it and the others wait", async () => {
  const setups = new Setups(fakeClock(), { fingerprint: () => "" });
  const { ends, make } = making();
  const runs = [1, 2, 3].map(() => setups.ensure("login", make, NEVER));
  await Promise.resolve();
  expect(ends).toHaveLength(1);
  ends[0]?.({ ok: true });
  expect(await Promise.all(runs)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
  expect(ends).toHaveLength(1);
});

test("a run that waited makes the set-up itself when it failed, and none waits behind its own end", async () => {
  const setups = new Setups(fakeClock(), { fingerprint: () => "" });
  const { ends, make } = making();
  const [first, second] = [setups.ensure("login", make, NEVER), setups.ensure("login", make, NEVER)];
  const stop = new AbortController();
  const third = setups.ensure("login", make, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(third).rejects.toThrow("stopped");
  ends[0]?.(bad);
  expect(await first).toEqual(bad);
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.({ ok: true });
  expect(await second).toEqual({ ok: true });
});
