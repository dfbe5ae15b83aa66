import { describe, expect, it } from "vitest";
import { z } from "zod";
import { start } from "./bench.ts";

describe("GET /events", () => {
  it("pages in order from a cursor", async () => {
    const { api, events } = start();
    events.add(5);
    const first = z.object({ events: z.array(z.object({ id: z.number() })), next: z.number() });
    const page = first.parse(await (await api.request("/events?after=1&limit=2")).json());
    expect([page.events.map(({ id }) => id), page.next]).toEqual([[2, 3], 3]);
    const last = first.parse(await (await api.request("/events?after=5")).json());
    expect(last).toEqual({ events: [], next: 5 });
    const newest = first.parse(await (await api.request("/events?after=latest")).json());
    expect(newest).toEqual({ events: [], next: 5 });
  });

  it("goes on where a consumer said that it was done, which never goes back", async () => {
    const { api, events } = start();
    events.add(5);
    const done = (after: number) =>
      api.request("/events/cursors/ci", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ after }),
      });
    expect(await (await done(3)).json()).toEqual({ after: 3 });
    expect(await (await done(2)).json()).toEqual({ after: 3 });
    const page = z.object({ events: z.array(z.object({ id: z.number() })) });
    const read = async (query: string) =>
      page.parse(await (await api.request(`/events?${query}`)).json()).events.map(({ id }) => id);
    expect(await read("consumer=ci")).toEqual([4, 5]);
    expect(await read("consumer=ci&after=1")).toEqual([2, 3, 4, 5]);
    expect(await read("consumer=other")).toEqual([1, 2, 3, 4, 5]);
    expect((await done(-1)).status).toBe(400);
  });

  it.each([
    "after=-1",
    "consumer=a%20b",
    "after=x",
    "limit=0",
    "limit=1001",
    "limit=1.5",
  ])("refuses %s", async (query) => {
    const response = await start().api.request(`/events?${query}`);
    expect(response.status).toBe(400);
  });

  /** Reads ids until `wanted` have come. */
  async function readIds(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: number): Promise<number[]> {
    const decoder = new TextDecoder();
    let text = "";
    while ((text.match(/^id: /gm) ?? []).length < wanted) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the stream ended after ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    return [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  }

  async function openStream(
    api: ReturnType<typeof start>["api"],
    path: string,
    headers: Record<string, string> = {},
  ) {
    const response = await api.request(path, { headers: { accept: "text/event-stream", ...headers } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error("no body");
    return reader;
  }

  it("streams what is there and what comes, and resumes after Last-Event-ID", async () => {
    const { api, events } = start();
    events.add(2);
    const reader = await openStream(api, "/events");
    expect(await readIds(reader, 2)).toEqual([1, 2]);
    events.add(3);
    expect(await readIds(reader, 3)).toEqual([3, 4, 5]);
    await reader.cancel();

    const resumed = await openStream(api, "/events?after=0", { "last-event-id": "3" });
    expect(await readIds(resumed, 2)).toEqual([4, 5]);
    await resumed.cancel();
  });

  it("carries more than one page and listens no more once the reader has gone", async () => {
    const { api, events } = start();
    events.add(250);
    const reader = await openStream(api, "/events?after=0");
    expect(await readIds(reader, 250)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
    expect(events.listeners.size).toBe(1);
    await reader.cancel();
    events.add(1);
    await expect.poll(() => events.listeners.size).toBe(0);
  });
});
