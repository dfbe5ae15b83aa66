import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "#mcp-server/registry/tool.ts";
import { type Attached, attach, DaemonLost } from "#mcp-server/server/bridge/link.ts";
import { requestDaemon } from "#mcp-server/server/daemonFile.ts";
import { linkProtocol } from "#mcp-server/server/http/linkMessages.ts";
import type { ToolCall } from "#mcp-server/server/mcp/backend.ts";
import { type HttpFixture, startHttp, testToken } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const entered: string[] = [];
const aborted: string[] = [];
const act = defineTool({
  name: "act",
  title: "Act",
  description: "Says who calls; waits on request.",
  domain: "devices",
  capabilities: ["DEVICE_STATUS"],
  effect: "write",
  timeoutMs: 30_000,
  input: z.strictObject({ name: z.string(), wait: z.boolean().default(false) }),
  output: z.strictObject({ client: z.string(), name: z.string() }),
  async handle({ input, context }) {
    entered.push(input.name);
    context.progress(1, 2, "half");
    if (input.wait)
      await new Promise((_, reject) =>
        context.signal.addEventListener("abort", () => {
          aborted.push(input.name);
          reject(context.signal.reason);
        }),
      );
    return { client: context.client, name: input.name };
  },
});

let http: HttpFixture;
beforeAll(async () => {
  http = await startHttp(wireServices(), [act]);
});
afterAll(() => http.end());

const fileOf = (token = testToken) => ({
  pid: process.pid,
  started_at: "",
  port: http.listening.localPort,
  token,
  version: "0.0.0",
  build: { hash: "", at: "" },
  config: { hash: "" },
});

async function open(client: string): Promise<Attached> {
  const attached = await attach(fileOf(), { client, project: undefined }, 5_000);
  if (!attached) throw new Error("the daemon refused the bridge");
  return attached;
}

const call = (args: Record<string, unknown>, given: Partial<ToolCall> = {}): ToolCall => ({
  name: "act",
  arguments: args,
  idempotency_key: undefined,
  traceparent: undefined,
  host: undefined,
  elicitation: false,
  views: false,
  signal: new AbortController().signal,
  progress: undefined,
  http: undefined,
  session: undefined,
  ...given,
});

/** Sends what no bridge would, and gives back all that is answered until the daemon hangs up. */
async function answerTo(lines: readonly string[], after = ""): Promise<string> {
  const socket = connect(http.listening.localPort, "127.0.0.1");
  let said = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    said += part;
    if (after !== "" && said.includes("\r\n\r\n")) socket.write(after);
  });
  // A reset is how a daemon hangs up on what it has not read.
  socket.on("error", () => {});
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await new Promise((resolve) => socket.once("close", resolve));
  return said;
}
const ask = { name: "act", elicitation: false, views: false, progress: false };
const wanted = ["connection: Upgrade", `upgrade: ${linkProtocol}`];
const token = `authorization: Bearer ${testToken}`;

describe("a bridge's link", () => {
  it("runs calls as that bridge's, several at once, each answer to its own", async () => {
    const link = await open("claude/1");
    const names = ["é", "line\nbreak", "c"];
    const replies = await Promise.all(names.map((name) => link.callTool(call({ name }))));
    expect(replies.map((reply) => reply.structuredContent)).toEqual(
      names.map((name) => ({ client: "claude/1", name })),
    );
    link.close();
  });

  it("carries progress to a host that wants it", async () => {
    const link = await open("claude/2");
    const heard: unknown[] = [];
    await link.callTool(call({ name: "p" }, { progress: (...said) => void heard.push(said) }));
    expect(heard).toEqual([[1, 2, "half"]]);
    link.close();
  });

  it("carries a cancellation to the tool, and the link lives on", async () => {
    const link = await open("claude/3");
    const stop = new AbortController();
    const pending = link.callTool(call({ name: "stopped", wait: true }, { signal: stop.signal }));
    await expect.poll(() => entered).toContain("stopped");
    stop.abort(new Error("not wanted"));
    await expect(pending).rejects.toThrow("not wanted");
    await expect.poll(() => aborted).toContain("stopped");
    expect((await link.callTool(call({ name: "next" }))).isError).not.toBe(true);
    link.close();
  });

  it("passes a protocol error on as it is", async () => {
    const link = await open("claude/4");
    const read = link.readResource(`artifact://${"0".repeat(64)}`, new AbortController().signal);
    await expect(read).rejects.toMatchObject({ name: "ProtocolError", code: -32602 });
    link.close();
  });

  it("refuses a call that is too large before it is sent", async () => {
    const link = await open("claude/5");
    const large = link.callTool(call({ name: "x".repeat(9_000_000) }));
    await expect(large).rejects.toMatchObject({ code: "INPUT_TOO_LARGE", hint: "Send less at a time." });
    expect(link.lost.aborted).toBe(false);
    link.close();
  });

  it("that ends cancels its calls and gives back what the bridge held", async () => {
    const link = await open("claude/6");
    const pending = link.callTool(call({ name: "left", wait: true }));
    const lost = expect(pending).rejects.toBeInstanceOf(DaemonLost);
    await expect.poll(() => entered).toContain("left");
    link.close();
    await lost;
    await expect.poll(() => aborted).toContain("left");
    await expect.poll(() => http.ended).toContain("claude/6");
    expect(http.links.count()).toBe(0);
  });

  it("that the daemon leaves says why", async () => {
    const link = await open("claude/7");
    http.links.leave("replaced by a newer build");
    await expect.poll(() => link.lost.aborted).toBe(true);
    expect(link.loss()).toEqual({ reason: "replaced by a newer build" });
    await expect(link.callTool(call({ name: "late" }))).rejects.toBeInstanceOf(DaemonLost);
    // Another program may have the port by now.
    await expect(requestDaemon(link, "/livez", { client: "x" })).rejects.toThrow("has ended");
    expect(http.links.count()).toBe(0);
  });
});

describe("a connection that is not a bridge", () => {
  it("gets no link with a wrong token, and finds no daemon", async () => {
    expect(await attach(fileOf("wrong"), { client: "x", project: undefined }, 5_000)).toBeUndefined();
    expect(http.links.count()).toBe(0);
  });

  it.each([
    ["no token", [`host: 127.0.0.1`, ...wanted], "401"],
    ["a forged Host", ["host: evil.example", token, ...wanted], "403"],
    ["a forged Origin", ["origin: https://evil.example", token, ...wanted], "403"],
    ["another protocol", ["connection: Upgrade", "upgrade: websocket", token], "400"],
  ])("is refused as every request is: %s", async (_, headers, status) => {
    const host = headers.some((line) => line.startsWith("host:"))
      ? headers.map((line) => line.replace("127.0.0.1", `127.0.0.1:${http.listening.localPort}`))
      : [`host: 127.0.0.1:${http.listening.localPort}`, ...headers];
    expect(await answerTo(["GET /attach HTTP/1.1", ...host])).toContain(`HTTP/1.1 ${status}`);
    expect(http.links.count()).toBe(0);
  });

  it("is refused on every other path", async () => {
    const headers = [`host: 127.0.0.1:${http.listening.localPort}`, token, ...wanted];
    expect(await answerTo(["GET /mcp HTTP/1.1", ...headers])).toContain("HTTP/1.1 404");
  });

  it.each([
    ["no JSON", "what?\n"],
    ["another shape", '{"id":1,"call":"act"}\n'],
    ["a line without end", "x".repeat(9_000_000)],
  ])("is hung up on: %s", async (_, line) => {
    const headers = [`host: 127.0.0.1:${http.listening.localPort}`, token, ...wanted];
    const call = JSON.stringify({ id: 9, call: { ...ask, arguments: { name: `after ${line.length}` } } });
    expect(await answerTo(["GET /attach HTTP/1.1", ...headers], `${line}${call}\n`)).toContain(
      "101 Switching",
    );
    expect(entered).not.toContain(`after ${line.length}`);
    expect(http.links.count()).toBe(0);
  });
});
