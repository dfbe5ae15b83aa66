import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { connect, createServer as createTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Clock } from "#agent-client/ports.ts";
import { openRemote, type Remote } from "#agent-client/remotes/remote.ts";
import { createPlacedRunner } from "#agent-client/remotes/runner.ts";
import { settingsSchema } from "#agent-client/settings.ts";
import { type HttpFixture, startHttp, testToken } from "../../fixtures/http.ts";
import { wireServices } from "../../fixtures/wire.ts";
import { wireTools } from "../../fixtures/wireTools.ts";
import { fakeToolbox } from "../planExecute/taskLab.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const remoteAt = (url: string, given: Partial<Remote> = {}): Remote => ({
  ...{ name: "far", url: new URL(url), capabilities: [], client: "remote/test", silentMs: () => 60_000 },
  token: () => testToken,
  ...given,
});
const portOf = (server: { address(): unknown }) => z.object({ port: z.int() }).parse(server.address()).port;
const listenOn = async (server: HttpServer | ReturnType<typeof createTcp>) => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${portOf(server)}`;
};

describe("a call to a remote", () => {
  let folder: string;
  let http: HttpFixture;
  let sockets: Socket[];
  let url: string;
  const linesOf = (file: string) => readFileSync(join(folder, file), "utf8").trim().split("\n");

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "labwright-remote-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    http = await startHttp(wireServices(), wireTools(folder), { allowedHosts: ["127.0.0.1"] });
    closers.push(() => http.end());
    sockets = [];
    // A wire that can be cut while the remote lives.
    const relay = createTcp((socket) => {
      const onward = connect(portOf({ address: () => ({ port: http.listening.localPort }) }), "127.0.0.1");
      for (const one of [socket, onward]) {
        sockets.push(one);
        one.on("error", () => undefined);
      }
      socket.pipe(onward).pipe(socket);
    });
    url = await listenOn(relay);
    closers.push(() => relay.close());
  });
  const open = () => {
    const opened = openRemote(remoteAt(url));
    closers.push(opened.close);
    return opened.toolbox;
  };
  const cut = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  const begin = async (name: string, ms = 60_000) => {
    const toolbox = open();
    await toolbox.specs();
    const heard: string[] = [];
    const control = new AbortController();
    const use = { name, input: { name: "one", ms } };
    const result = toolbox.call(use, { signal: control.signal, onProgress: (text) => heard.push(text) });
    result.catch(() => undefined);
    await expect.poll(() => linesOf("calls")).toHaveLength(1);
    return { toolbox, result, heard, control };
  };

  it("gives what the remote gives, and its progress on the way", async () => {
    const { result, heard } = await begin("write_slowly", 1);
    expect(await result).toMatchObject({ isError: false, structured: { client: "remote/test" } });
    expect(heard).toEqual(["step 1", "step 2", "step 3"]);
  });

  it("that may write is not repeated when its answer is lost: its effect is unknown", async () => {
    const { result, toolbox } = await begin("write_slowly");
    cut();
    const { isError, parts } = await result;
    expect([isError, parts]).toMatchObject([
      true,
      [{ text: expect.stringMatching(/^OUTCOME_UNKNOWN: .*far/) }],
    ]);
    // The remote is found again, and did it once.
    const again = { name: "read_slowly", input: { name: "two", ms: 0 } };
    expect(await toolbox.call(again, { signal: new AbortController().signal })).toMatchObject({
      structured: { writes: ["one"] },
    });
    expect(linesOf("calls")).toEqual(["write one", "read two"]);
  });

  it("that reads may be repeated when its answer is lost", async () => {
    const { result } = await begin("read_slowly");
    cut();
    expect((await result).parts).toMatchObject([
      { text: expect.stringMatching(/^CONNECTION_REFUSED: .*far/) },
    ]);
  });

  it("is cancelled there when it is cancelled here", async () => {
    const { result, control } = await begin("read_slowly");
    control.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    await expect.poll(() => linesOf("aborted")).toEqual(["one"]);
  });
});

describe("a task for a remote that cannot be used", () => {
  const waits: number[] = [];
  /** Waits for retries are over at once, and noted; limits of time never come. */
  const clock: Clock = {
    now: Date.now,
    sleep(ms, signal) {
      if (ms < 5_000) {
        waits.push(ms);
        return Promise.resolve();
      }
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const run = (remote: Remote) => {
    waits.length = 0;
    const local = fakeToolbox([], () => ({ parts: [], isError: false, structured: { hosts: [] } }));
    return createPlacedRunner({
      ...{ toolbox: local, clock, settings: settingsSchema.parse({}), remotes: [remote] },
      ...{ models: { current: () => [], router: () => undefined }, log: () => undefined },
    }).run({ task: "hello", device_ids: ["phone"], signal: new AbortController().signal });
  };
  async function answering(status: number, type: string, body: string): Promise<string> {
    const server = createServer((_, response) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    });
    closers.push(() => server.close());
    return listenOn(server);
  }

  it("since nothing listens is tried three times more, each after twice as long, and ends CONNECTION_REFUSED", async () => {
    const server = createServer();
    const url = await listenOn(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(run(remoteAt(url))).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
      message: expect.stringMatching(/the device phone.*far .*ECONNREFUSED/),
      details: { remote: "far", missing: ["the device phone"] },
    });
    expect(waits).toEqual([250, 500, 1_000]);
  });

  it("since the token is wrong ends at once, says so, and does not show the token", async () => {
    const http = await startHttp(wireServices(), []);
    closers.push(() => http.end());
    const error = await run(remoteAt(http.url("/"), { token: () => "not the token" })).catch((one) => one);
    expect(error).toMatchObject({
      ...{ code: "INVALID_RESPONSE", message: expect.stringContaining("HTTP 401") },
      ...{ hint: expect.stringContaining("token"), details: { remote: "far", status: 401 } },
    });
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain("not the token");
    expect(waits).toEqual([]);
  });

  it.each([
    ["a page", 200, "text/html", "<h1>Hello</h1>"],
    ["nothing that it has", 404, "application/json", '{"error":"no such path"}'],
    [
      "a server of an older protocol",
      400,
      "application/json",
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no valid session ID"}}',
    ],
    ["a redirect", 302, "text/plain", ""],
  ])("since it is %s ends INVALID_RESPONSE", async (_, status, type, body) => {
    await expect(run(remoteAt(await answering(status, type, body)))).rejects.toMatchObject({
      code: "INVALID_RESPONSE",
      message: expect.stringContaining("does not speak MCP as this server does"),
    });
    expect(waits).toEqual([]);
  });
});
