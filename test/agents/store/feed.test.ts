import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clock, LabEvent } from "../../../agent-client/src/ports.ts";
import { silenceMs } from "../../../agent-client/src/store/eventStream.ts";
import { type FeedOptions, httpFeed } from "../../../agent-client/src/store/feed.ts";
import { type AgentServer, startAgentServer } from "../../fixtures/agentServer.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(async () => {
  await server.end();
});

/** Waits for nothing but for silence, which the test brings about; notes how long it was told to wait. */
function impatientClock() {
  const waits: number[] = [];
  let fallSilent = () => {};
  const clock: Clock = {
    now: () => 0,
    async sleep(ms, signal) {
      if (ms !== silenceMs) {
        waits.push(ms);
        // Others get their turn: a server that is not there answers at once.
        await new Promise((resolve) => setImmediate(resolve));
        return;
      }
      await new Promise<void>((resolve) => {
        fallSilent = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
  return { clock, waits, fallSilent: () => fallSilent() };
}

async function publish(...types: string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const type of types) {
    const event = {
      type,
      priority: "normal",
      source: "test",
      execution_id: "e1",
      payload: { type },
    } as const;
    ids.push((await server.storage.db.transaction((tx) => server.events.append(tx, event))).id);
  }
  return ids;
}

/** Follows in the background, as a consumer does that lives as long as its process. */
function followed(after: number, options: Partial<FeedOptions> = {}) {
  const { clock, ...watch } = impatientClock();
  const stop = new AbortController();
  const seen: LabEvent[] = [];
  const broken: unknown[] = [];
  const feed = httpFeed({
    fetch: server.fetch,
    clock,
    onBroken: (error) => void broken.push(error),
    ...options,
  });
  const ended = (async () => {
    for await (const event of feed.follow(after, stop.signal)) seen.push(event);
  })();
  return {
    ...watch,
    seen,
    broken,
    stop: () => stop.abort(),
    ended,
    types: () => seen.map(({ type }) => type),
  };
}

const latest = () => server.events.latestId();
const soon = { timeout: 30_000, interval: 20 };

describe("a feed that is followed", () => {
  it("tells what was there and what comes, in order, each event whole and once, and ends with its signal", async () => {
    const after = await latest();
    const [first = 0] = await publish("build.one", "build.two");
    const { seen, types, stop, ended } = followed(after);
    await expect.poll(types, soon).toEqual(["build.one", "build.two"]);
    await publish("build.three");
    await expect.poll(types, soon).toEqual(["build.one", "build.two", "build.three"]);
    expect(seen[0]).toEqual({
      ...{ id: first, type: "build.one", priority: "normal", source: "test", execution_id: "e1" },
      ...{ payload: { type: "build.one" }, at: expect.stringMatching(/Z$/) },
    });
    stop();
    await ended;
  });

  it("tells three hundred at once, none lost", async () => {
    const after = await latest();
    const wanted = Array.from({ length: 300 }, (_, i) => `build.n${i}`);
    const { types, stop, ended } = followed(after);
    await publish(...wanted);
    await expect.poll(types, soon).toEqual(wanted);
    stop();
    await ended;
  });

  it("goes on after the last event when the server went away and came back, with growing pauses", async () => {
    const after = await latest();
    const { types, waits, broken, stop, ended } = followed(after);
    await publish("build.before");
    await expect.poll(types, soon).toEqual(["build.before"]);
    await server.goAway();
    await publish("build.meanwhile");
    await expect.poll(() => waits.length, soon).toBeGreaterThan(8);
    await server.comeBack();
    await publish("build.after");
    await expect.poll(types, soon).toEqual(["build.before", "build.meanwhile", "build.after"]);
    expect(waits.slice(0, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    expect(broken.length).toBeGreaterThan(0);
    stop();
    await ended;
  });

  it.each([
    ["not even that it lives", () => Promise.resolve(new Response(new ReadableStream()))],
    ["not even that it was asked", () => new Promise<Response>(() => {})],
  ])("asks again when the server says nothing, %s", async (_, silent) => {
    const after = await latest();
    const asked: string[] = [];
    const fetch: FeedOptions["fetch"] = (path, init) => {
      asked.push(path);
      return asked.length === 1 ? silent() : server.fetch(path, init);
    };
    const { types, fallSilent, stop, ended } = followed(after, { fetch });
    await publish("build.heard");
    await expect.poll(() => asked.length, soon).toBe(1);
    // Until it waits: the read begins after the answer.
    await expect
      .poll(() => {
        fallSilent();
        return types();
      }, soon)
      .toContain("build.heard");
    stop();
    await ended;
  });

  it("takes events that come in pieces, cut anywhere, and leaves out what it has", async () => {
    const event = (id: number) => ({
      ...{ id, type: "build.é", priority: "high", source: "s", payload: { text: "😀\n\ndata: no" } },
      at: "2026-01-01T00:00:00.000Z",
    });
    const text = [1, 2, 2, 1, 3]
      .map((id) => `id: ${id}\nevent: x\ndata: ${JSON.stringify(event(id))}\n\n`)
      .join(": hm\n\n");
    const bytes = new TextEncoder().encode(text);
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      },
    });
    const { seen, stop, ended } = followed(0, { fetch: async () => new Response(pieces) });
    await expect.poll(() => seen, soon).toEqual([event(1), event(2), event(3)]);
    stop();
    await ended;
  });

  it("ends at once with its signal, also while the server is away or the stream hangs", async () => {
    const hanging = followed(0, { fetch: async () => new Response(new ReadableStream()) });
    const away = followed(0, { fetch: () => Promise.reject(new TypeError("fetch failed")) });
    const done = followed(0);
    for (const each of [hanging, away, done]) each.stop();
    await Promise.all([hanging.ended, away.ended, done.ended]);
  });

  it.each([
    ["an event of another form", 200, 'data: {"id": "one"}\n\n', "INTERNAL"],
    ["an event that is no JSON", 200, "data: {\n\n", "INTERNAL"],
    [
      "a refusal of the request",
      400,
      '{"error": {"code": "INVALID_INPUT", "message": "after"}}',
      "INVALID_INPUT",
    ],
    [
      "a path that is not there",
      404,
      '{"error": {"code": "NOT_FOUND", "message": "No such path."}}',
      "INTERNAL",
    ],
  ])("fails on %s, and does not go on without it", async (_, status, text, code) => {
    const { ended } = followed(0, { fetch: async () => new Response(text, { status }) });
    await expect(ended).rejects.toMatchObject({ name: "AgentError", code });
  });

  it("tries again after a failure of the server, and after an event without an end", async () => {
    const after = await latest();
    await publish("build.good");
    const bad = [
      () => new Response("{}", { status: 500 }),
      () => new Response("{}", { status: 401 }),
      () => new Response(`data: ${"x".repeat(2_000_000)}`),
    ];
    const fetch: FeedOptions["fetch"] = async (path, init) => bad.shift()?.() ?? server.fetch(path, init);
    const { types, broken, stop, ended } = followed(after, { fetch });
    await expect.poll(types, soon).toEqual(["build.good"]);
    expect(broken).toHaveLength(3);
    stop();
    await ended;
  });
});

describe("a consumer's place", () => {
  const feed = () => httpFeed({ fetch: server.fetch, clock: impatientClock().clock });

  it("is 0 at first, stays where it was put over a restart, and never goes back", async () => {
    const [one = 0, two = 0] = await publish("build.a", "build.b");
    expect(await feed().cursor("monitor")).toBe(0);
    await feed().done("monitor", two);
    await feed().done("monitor", one);
    await server.goAway();
    await server.comeBack();
    expect(await feed().cursor("monitor")).toBe(two);
    expect(await feed().cursor("analyzer")).toBe(0);
  });

  it("is refused for an event that is yet to come, and for a name that is none", async () => {
    const far = feed().done("monitor", (await latest()) + 10);
    await expect(far).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(feed().cursor("a b")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
