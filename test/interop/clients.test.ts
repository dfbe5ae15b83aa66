import { createServer, type Server } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Bench, productBench, within } from "../fixtures/daemon.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import { type AnyClient, clients } from "./clients.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let bench: Bench;
let app: Server;
let url = "";
beforeAll(async () => {
  bench = productBench();
  await bench.startDaemon(["--log-level", "error"]);
  app = createServer((_, response) => {
    response
      .setHeader("content-type", "text/html")
      .end("<title>Shop</title><h1>Welcome</h1><button>Buy</button>");
  });
  url = `http://127.0.0.1:${await listenOnLoopback(app)}/`;
});
afterAll(async () => {
  await bench.end();
  app.close();
});

const testcase = (text: string) => ({
  name: `welcome ${text}`,
  blocks: [
    { id: "start", type: "start" },
    { id: "go", type: "action", command: "navigate_to_url", params: { url } },
    { id: "look", type: "verification", command: "text_visible", params: { text } },
    { id: "end", type: "success" },
  ],
  edges: [
    { from: "start", to: "go" },
    { from: "go", to: "look" },
    { from: "look", to: "end" },
  ],
});

const textOf = (result: Awaited<ReturnType<AnyClient["call"]>>) => result.content[0]?.text ?? "";

describe.each(Object.entries(clients))("the client %s", (_, connect) => {
  let client: AnyClient | undefined;
  afterEach(async () => {
    await client?.close();
    client = undefined;
  });

  it("lists the tools, in the one fixed order", async () => {
    client = await connect(bench);
    const names = await client.list();
    expect(names).toContain("execute_testcase");
    expect(names).toEqual(names.toSorted());
  });

  it("runs a test case to its verdict, with progress and a report to read", async () => {
    client = await connect(bench);
    await client.list();
    const control = await client.call("take_control", {});
    const { session_id } = z.object({ session_id: z.string() }).parse(control.structuredContent);
    const saved = await client.call("save_testcase", { session_id, testcase: testcase("Welcome") });
    expect(textOf(saved)).not.toContain("TESTCASE_INVALID");
    let steps = 0;
    const run = await client.call(
      "execute_testcase",
      { session_id, testcase: "welcome Welcome" },
      { onprogress: () => steps++ },
    );
    expect(run.structuredContent).toMatchObject({ status: "passed" });
    expect(steps).toBeGreaterThan(0);
    const { execution_id } = z.object({ execution_id: z.string() }).parse(run.structuredContent);
    const report = await client.call("get_execution_report", { execution_id });
    const link = report.content.find(({ type }) => type === "resource_link");
    expect(await client.read(z.string().parse(link?.uri))).toContain("Welcome");
    await client.call("release_control", { session_id });
  });

  it("gets a failed verdict and bad input in words it can act on", async () => {
    client = await connect(bench);
    await client.list();
    const wrong = await client.call("dump_ui_elements", { max_token: 5 });
    expect(wrong.isError).toBe(true);
    expect(wrong.structuredContent).toBeUndefined();
    expect(textOf(wrong)).toMatch(/INVALID_INPUT.*max_token.*did you mean "max_tokens"/);
    const unknown = await client.call("take_contrl", {});
    expect(textOf(unknown)).toMatch(/TOOL_NOT_FOUND.*\n.*take_control/);
  });
});

describe("clients side by side", () => {
  it("see who holds a device, and get it when its holder's bridge ends", async () => {
    const [holder, other] = await Promise.all([bench.host("claude"), bench.host("cursor")]);
    expect((await holder.call("take_control")).isError).toBe(false);
    const refused = await other.call("take_control");
    expect(refused.error?.code).toBe("DEVICE_HELD");
    expect(refused.text).toContain("claude/");
    await holder.close();
    await expect.poll(async () => (await other.call("take_control")).isError, within).toBe(false);
    await other.call("release_control");
  });
});
