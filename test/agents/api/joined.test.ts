import type { AgentEvent } from "@labwright/agent-client";
import { expect, it } from "vitest";
import { follow as followAs } from "#mcp-server/agents/api/joined.ts";

const event = (seq: number): AgentEvent => ({
  type: "message",
  text: `${seq}`,
  session_id: "s1",
  seq,
  at: "2026-01-01T00:00:00.000Z",
});
const given = { id: "s1", owner: "local", after: 0, signal: new AbortController().signal };
const follow = (
  from: Parameters<typeof followAs>[0],
  what: Parameters<typeof followAs>[1],
  tell: Parameters<typeof followAs>[2],
  drained = async () => {},
) => followAs(from, what, tell, drained);

/** Events whose pages have at most `pageSize` and arrive after `onPage`, which may report more meanwhile. */
function source(count: number, { pageSize = 1_000, onPage = (_page: number): unknown => undefined } = {}) {
  const kept = Array.from({ length: count }, (_, i) => event(i + 1));
  const listeners = new Set<(event: AgentEvent) => void>();
  let pages = 0;
  const tell = () => {
    const next = event(kept.length + 1);
    kept.push(next);
    for (const listener of listeners) listener(next);
  };
  return {
    tell,
    listeners,
    async subscribe(_id: string, _owner: string, listener: (event: AgentEvent) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async events(_id: string, _owner: string, { after, limit = 100 }: { after: number; limit?: number }) {
      const page = kept.slice(after, after + Math.min(limit, pageSize));
      pages += 1;
      onPage(pages);
      return page;
    },
  };
}

const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, i) => from + i);

it("says what comes while a page is on its way, once", async () => {
  const told: number[] = [];
  const from = source(5, {
    onPage: (page) => {
      if (page > 3) return;
      from.tell();
      from.tell();
    },
  });
  await follow(from, given, ({ seq }) => told.push(seq));
  from.tell();
  expect(told).toEqual(upTo(12));
});

it("says what comes while the last page is on its way", async () => {
  const told: number[] = [];
  const from = source(5, { onPage: (page) => page === 2 && from.tell() });
  await follow(from, given, ({ seq }) => told.push(seq));
  from.tell();
  expect(told).toEqual(upTo(7));
});

it("reads on to the end where pages are shorter than asked for", async () => {
  const told: number[] = [];
  await follow(source(25, { pageSize: 4 }), given, ({ seq }) => told.push(seq));
  expect(told).toEqual(upTo(25));
});

it("begins after what is known, and lives on", async () => {
  const told: number[] = [];
  const from = source(10);
  const ending = new AbortController();
  await follow(from, { ...given, after: 7, signal: ending.signal }, ({ seq }) => told.push(seq));
  from.tell();
  ending.abort();
  from.tell();
  expect(told).toEqual([8, 9, 10, 11]);
});

it("reports only what comes where nothing is asked for", async () => {
  const told: number[] = [];
  const from = source(10);
  await follow(from, { ...given, after: undefined }, ({ seq }) => told.push(seq));
  from.tell();
  expect(told).toEqual([11]);
});

it("does not go on reading when no one hears any more", async () => {
  const told: number[] = [];
  const ending = new AbortController();
  const from = source(25, { pageSize: 4 });
  await follow(
    from,
    { ...given, signal: ending.signal },
    ({ seq }) => told.push(seq),
    async () => {
      if (told.length === 8) ending.abort();
    },
  );
  from.tell();
  expect(told).toEqual(upTo(8));
  expect(from.listeners.size).toBe(0);
});

it("reports nothing more when it is ended while a page is on its way", async () => {
  const told: number[] = [];
  const ending = new AbortController();
  const from = source(25, { pageSize: 4, onPage: (page) => page === 2 && ending.abort() });
  await follow(from, { ...given, signal: ending.signal }, ({ seq }) => told.push(seq));
  expect(told).toEqual(upTo(4));
});
