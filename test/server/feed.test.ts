import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type Bench, isAlive, kill, productBench, type WireHost, within } from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

function bench(): Bench {
  const made = productBench();
  open.push(made);
  return made;
}

const pageSchema = z.object({
  events: z.array(z.object({ id: z.int(), type: z.string() })),
  next: z.string(),
});
const contentSchema = z.object({ contents: z.tuple([z.object({ text: z.string() })]) });

/** Follows `events://` from the first on, as a consumer does that is notified when there is more. */
class Follower {
  readonly seen: string[] = [];
  private next = "events://0";
  private reading: Promise<void> = Promise.resolve();

  constructor(private readonly host: WireHost) {
    host.client.setNotificationHandler("notifications/resources/updated", () => this.read());
  }

  async listen(era: "legacy" | "auto"): Promise<void> {
    if (era === "legacy") await this.host.client.subscribeResource({ uri: this.next });
    else await this.host.client.listen({ resourceSubscriptions: [this.next] });
  }

  /** One read at a time, each from where the last one ended. One that fails leaves `seen` short; the end of a test may cut one off. */
  private read(): void {
    const readOn = async () => {
      const { contents } = contentSchema.parse(await this.host.client.readResource({ uri: this.next }));
      const page = pageSchema.parse(JSON.parse(contents[0].text));
      this.seen.push(...page.events.map(({ type }) => type));
      this.next = page.next;
    };
    this.reading = this.reading.then(readOn).catch(() => {});
  }
}

describe.each(["legacy", "auto"] as const)("the feed over a bridge, era %s", (era) => {
  it("loses and doubles nothing when the daemon is killed", async () => {
    const on = bench();
    const [host, other] = await Promise.all([on.host("follower", { era }), on.host("other")]);
    const follower = new Follower(host);
    await other.call("publish_event", { type: "build.one" });
    await follower.listen(era);
    await expect.poll(() => follower.seen, within).toEqual(["build.one"]);
    const { pid = 0 } = on.daemon() ?? {};
    kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid), within).toBe(false);
    await other.call("publish_event", { type: "build.two" });
    await expect.poll(() => follower.seen, within).toEqual(["build.one", "build.two"]);
    await other.call("publish_event", { type: "build.three" });
    await expect.poll(() => follower.seen, within).toEqual(["build.one", "build.two", "build.three"]);
  });
});

it("a consumer goes on over a restart where it said that it was done", async () => {
  const on = bench();
  const host = await on.host();
  const feed = async (path: string, init: RequestInit = {}) => {
    const file = on.daemon();
    if (!file) throw new Error("no daemon");
    const headers = { ...daemonHeaders(file, "test"), "content-type": "application/json" };
    return (await fetch(daemonUrl(file, `/server/events${path}`), { ...init, headers })).json();
  };
  const page = z.object({ events: z.array(z.object({ type: z.string() })), next: z.int() });
  const typesAndNext = async () => {
    const { events, next } = page.parse(await feed("?consumer=ci"));
    return [events.map(({ type }) => type), next] as const;
  };
  await host.call("publish_event", { type: "build.one" });
  await host.call("publish_event", { type: "build.two" });
  const [before, next] = await typesAndNext();
  expect(before).toEqual(["build.one", "build.two"]);
  expect(await typesAndNext()).toEqual([before, next]);
  const stored = await feed("/cursors/ci", { method: "PUT", body: JSON.stringify({ after: next }) });
  expect(stored).toEqual({ after: next });
  const { pid = 0 } = on.daemon() ?? {};
  kill(pid, "SIGKILL");
  await expect.poll(() => isAlive(pid), within).toBe(false);
  await host.call("publish_event", { type: "build.three" });
  expect((await typesAndNext())[0]).toEqual(["build.three"]);
  const beyond = await feed("/cursors/ci", { method: "PUT", body: JSON.stringify({ after: next + 100 }) });
  expect(beyond).toMatchObject({ error: { code: "INVALID_INPUT" } });
});

describe("a user's own skill", () => {
  const skillText = (name: string, prompt: string, tools = ["list_hosts", "get_device_info"]) =>
    [
      `name: ${name}`,
      "version: 1.0.0",
      "description: Looks at our lab.",
      "triggers: [look at our lab]",
      `system_prompt: ${prompt}`,
      `tools: [${tools.join(", ")}]`,
      "timeout_seconds: 60",
      "",
    ].join("\n");
  const write = (on: Bench, name: string, text: string) => {
    mkdirSync(join(on.dataDir, "skills", name), { recursive: true });
    writeFileSync(join(on.dataDir, "skills", name, "skill.yaml"), text);
  };
  const listed = async ({ client }: WireHost) =>
    (await new SkillsClient(client).list()).skills.map(({ uri }) => uri);

  it("is served next to ours, read again when it changes, and cuts the tools of a bridge", async () => {
    const on = bench();
    write(on, "our-lab", skillText("our-lab", "Look at it."));
    const host = await on.host("host", { era: "auto" });
    const uris = await listed(host);
    expect(uris).toContain("skill://our-lab/SKILL.md");
    expect(uris).toContain("skill://device-status/SKILL.md");
    expect(uris).toEqual(uris.toSorted());
    const read = async () => JSON.stringify(await host.client.readResource({ uri: "skill://our-lab" }));
    expect(await read()).toContain("Look at it.");
    write(on, "our-lab", skillText("our-lab", "Look twice."));
    await expect.poll(read, within).toContain("Look twice.");
    const cut = await on.host("cut", { args: ["--skills", "our-lab"] });
    const { tools } = await cut.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["get_device_info", "list_hosts"]);
    expect(cut.client.getInstructions()).toContain("Look twice.");
  });

  it("that is broken, or takes the name of one of ours, is left out and reported; others go on", async () => {
    const on = bench();
    write(on, "our-lab", skillText("our-lab", "Look at it."));
    write(on, "broken", skillText("broken", "Look.", ["list_hosts", "list_hosst"]));
    write(on, "device-status", skillText("device-status", "Ours is better."));
    const host = await on.host("host", { era: "auto" });
    expect(await listed(host)).toContain("skill://our-lab/SKILL.md");
    expect(await listed(host)).not.toContain("skill://broken/SKILL.md");
    const { text } = await host.call("diagnose");
    expect(text).toMatch(/broken\/skill\.yaml:\d+.*list_hosst/s);
    expect(text).toMatch(/device-status is a skill of Labwright itself/);
  });
});
