import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { eventRoom, reportRoom, treeRoom, viewRoom } from "#mcp-server/server/resources/index.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { connectHttp, type HttpFixture, startHttp } from "../fixtures/http.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let product: Product;
let http: HttpFixture;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  const { services, events } = product;
  http = await startHttp(services, tools, {
    rooms: [treeRoom(services), eventRoom(events), reportRoom(services), viewRoom()],
  });
  await services.appFiles.importYaml(boxYaml("set-top box"), false);
});
afterAll(async () => {
  await http.end();
  await product.dispose();
});

const pageSchema = z.object({
  events: z.array(z.object({ id: z.int(), type: z.string() })),
  next: z.string(),
});

describe.each([
  ["2025-11-25", "legacy"],
  ["2026-07-28", { pin: "2026-07-28" }],
] as const)("over %s", (_, mode) => {
  let client: Client;
  const open = async () => {
    client = (await connectHttp(http.url("/mcp"), mode)).client;
  };
  afterEach(() => client.close());

  const read = async (uri: string) => {
    const [content] = (await client.readResource({ uri })).contents;
    return content && "text" in content ? content.text : "";
  };
  const complete = async (uri: string, name: string, value: string, given: Record<string, string> = {}) => {
    const argument = { name, value };
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri },
      argument,
      context: { arguments: given },
    });
    return completion.values;
  };
  const publish = (type: string) => client.callTool({ name: "publish_event", arguments: { type } });

  it("a tree is its map in lines, a node is JSON, and their names complete", async () => {
    await open();
    expect(await read("tree://set-top%20box")).toContain("Home → ");
    expect(JSON.parse(await read("tree://set-top%20box/Home"))).toMatchObject({ label: "Home" });
    expect(await complete("tree://{userinterface}", "userinterface", "Set")).toEqual(["set-top box"]);
    const labels = await complete("tree://{userinterface}/{node}", "node", "h", {
      userinterface: "set-top box",
    });
    expect(labels).toEqual(["Home"]);
  });

  it("an artifact's name completes", async () => {
    await open();
    const { artifacts } = product.services;
    const { sha256 } = await artifacts.put(Buffer.from("a report"), "text/plain");
    const other = await artifacts.put(Buffer.from("another"), "text/plain");
    expect(await complete("artifact://{sha256}", "sha256", sha256.slice(0, 12))).toEqual([sha256]);
    const all = await complete("artifact://{sha256}", "sha256", "");
    expect(all).toEqual(expect.arrayContaining([sha256, other.sha256]));
    expect(await complete("artifact://{sha256}", "sha256", "%")).toEqual([]);
    expect(await read(`artifact://${sha256}`)).toBe("a report");
  });

  it("an address that is not there names the nearest that are", async () => {
    await open();
    await expect(read("tree://set-top-bx")).rejects.toThrow(/set-top box/);
    await expect(read("tree://set-top%20box/Hom")).rejects.toThrow(/Home/);
    await expect(read("tool://list_host")).rejects.toThrow(/tool:\/\/list_hosts/);
    await expect(read("schema://save_testcas")).rejects.toThrow(/schema:\/\/save_testcase/);
    await expect(read("report://none")).rejects.toThrow(/none/);
    await expect(read("ui://labwright/none")).rejects.toThrow();
    await expect(read("events://yesterday")).rejects.toThrow(/events:\/\/0/);
  });

  it("each tool points to its strict schema, which its listing shows in brief", async () => {
    await open();
    for (const { name, _meta, inputSchema } of (await client.listTools()).tools) {
      const strict = JSON.parse(await read(String(_meta?.["dev.labwright/schema"])));
      expect(strict, name).toMatchObject({ type: "object", additionalProperties: false });
      expect(Object.keys(strict.properties), name).toEqual(
        expect.arrayContaining(Object.keys(inputSchema.properties ?? {})),
      );
    }
    const { properties } = JSON.parse(await read("schema://execute_testcase"));
    expect(properties).toMatchObject({ retries: { maximum: expect.any(Number) }, go: { type: "object" } });
  });

  it("events are read from a cursor on, each once and in order", async () => {
    await open();
    const before = await product.events.latestId();
    for (const type of ["build.first", "build.second", "build.third"]) await publish(type);
    const page = pageSchema.parse(JSON.parse(await read(`events://${before}`)));
    expect(page.events.map(({ type }) => type)).toEqual(["build.first", "build.second", "build.third"]);
    expect(page.next).toBe(`events://${before + 3}`);
    const rest = pageSchema.parse(JSON.parse(await read(page.next)));
    expect(rest).toEqual({ events: [], next: page.next });
  });

  it("a listener of the feed is notified of new events, and of those before it listened", async () => {
    await open();
    const updated: string[] = [];
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void updated.push(params.uri),
    );
    const [old, now] = [`events://${await product.events.latestId()}`, "events://1"];
    await publish("build.before");
    const stop = await listen([old, now]);
    await expect.poll(() => updated).toEqual(expect.arrayContaining([old, now]));
    updated.length = 0;
    await publish("build.after");
    await expect.poll(() => updated).toEqual(expect.arrayContaining([old, now]));
    await stop();
    updated.length = 0;
    await publish("build.unheard");
    await read("events://0");
    expect(updated).toEqual([]);
  });

  async function listen(uris: string[]): Promise<() => Promise<void>> {
    if (mode !== "legacy") {
      const { close } = await client.listen({ resourceSubscriptions: uris });
      return close;
    }
    for (const uri of uris) await client.subscribeResource({ uri });
    return async () => {
      for (const uri of uris) await client.unsubscribeResource({ uri });
    };
  }

  it("what never changes cannot be subscribed to", async () => {
    if (mode !== "legacy") return;
    await open();
    await expect(client.subscribeResource({ uri: "tree://set-top%20box" })).rejects.toThrow(/never changes/);
  });
});
