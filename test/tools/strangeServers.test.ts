import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import {
  adbBytes,
  adbText,
  endless,
  packet,
  serial,
  startStrangeAdb,
  startStrangeAppium,
  value,
} from "../fixtures/strangeServers.ts";

vi.setConfig({ testTimeout: 30_000 });

const mega = 1_000_000;
let appium: Awaited<ReturnType<typeof startStrangeAppium>>;
let adb: Awaited<ReturnType<typeof startStrangeAdb>>;
let elsewhere: Awaited<ReturnType<typeof startElsewhere>>;
let product: Product;
let client: TestClient;
let other: TestClient;

/** An address that no answer may lead to: counts what connects. */
async function startElsewhere() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listenOnLoopback(server);
  return { port, connections: () => connections, close: () => closeServer(server) };
}

beforeAll(async () => {
  [appium, adb, elsewhere] = await Promise.all([startStrangeAppium(), startStrangeAdb(), startElsewhere()]);
  product = await openProduct(
    [
      "devices:",
      `  - { name: iphone, model: ios_mobile, controllers: { appium: { url: "${appium.url}", capabilities: { platformName: iOS } } } }`,
      `  - { name: phone, model: android_mobile, controllers: { android: { serial: ${serial}, adb_port: ${adb.port}, backend: dump } } }`,
      `  - { name: absent, model: android_mobile, controllers: { android: { serial: absent, adb_port: ${adb.port}, backend: dump } } }`,
    ].join("\n"),
  );
  client = await product.connect();
  other = await product.connect({ client: "other" });
});
afterEach(() => {
  appium.answers.clear();
  adb.answers.clear();
});
afterAll(async () => {
  await product?.dispose();
  await Promise.all([appium?.close(), adb?.close(), elsewhere?.close()]);
});

const act = (device_id: string, command: string, params: object = {}) =>
  client.call("execute_device_action", { device_id, actions: [{ command, params }] });
const dump = () => client.call("dump_ui_elements", { device_id: "iphone" });
const shoot = () => client.call("capture_screenshot", { device_id: "iphone" });

/** Another client's call ends while this one runs. */
async function beside(hostile: Promise<Reply>): Promise<Reply> {
  const [reply, list] = await Promise.all([hostile, other.call("list_services", {})]);
  expect(list.error).toBeUndefined();
  return reply;
}

/** A typed error that names the server and what to do, and has nothing that steers a terminal. */
function expectBlamed(reply: Reply, server: RegExp, says?: RegExp): void {
  expect(reply.error, reply.text).toBeDefined();
  const { code = "", message = "" } = reply.error ?? {};
  expect(code, reply.text).not.toMatch(/INTERNAL|INVALID/);
  expect(message).toMatch(server);
  if (says) expect(message).toMatch(says);
  expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(message.length).toBeLessThan(2_000);
}

const deep = `{"value":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
const many = `{"value":[${"[],".repeat(3 * mega)}0]}`;

/** A PNG whose header says another size than its bytes have. */
function png(width: number, height: number): string {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(data.length);
    return Buffer.concat([head, body, Buffer.alloc(4)]);
  };
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  size.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const parts = [
    chunk("IHDR", size),
    chunk("IDAT", deflateSync(Buffer.alloc(1_000))),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...parts]).toString("base64");
}

describe("an Appium server", () => {
  const byAppium = /[Tt]he (?:Appium )?server/;

  test("whose session names other addresses and a process has none of them used", async () => {
    const victim = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = vi.fn();
    victim.once("exit", ended);
    const there = `127.0.0.1:${elsewhere.port}`;
    appium.answers.set(
      "POST /session",
      value({
        sessionId: "kept-0",
        capabilities: {
          platformName: "iOS",
          webSocketUrl: `ws://${there}/session`,
          "wdio:driverPID": victim.pid,
          ...{ "appium:directConnectProtocol": "http", "appium:directConnectHost": "127.0.0.1" },
          ...{ "appium:directConnectPort": elsewhere.port, "appium:directConnectPath": "" },
        },
      }),
    );
    expect((await dump()).text).toContain('button "Buy"');
    appium.answers.set("GET /source", value({ error: "invalid session id", message: "it ended" }));
    await dump();
    appium.answers.clear();
    expect((await dump()).text).toContain('button "Buy"');
    expect(elsewhere.connections()).toBe(0);
    victim.kill("SIGINT");
    await vi.waitFor(() => expect(ended).toHaveBeenCalledWith(null, "SIGINT"));
  });

  test("that sends a request elsewhere is not followed", async () => {
    for (const [status, address] of [
      [307, `http://127.0.0.1:${elsewhere.port}/source`],
      [302, "http://169.254.169.254/latest/meta-data/"],
    ] as const) {
      appium.answers.set("GET /source", (reply) => void reply.writeHead(status, { location: address }).end());
      expectBlamed(await dump(), byAppium, /another address/);
    }
    expect(elsewhere.connections()).toBe(0);
  });

  test.each([
    [
      "a picture without an end",
      "GET /screenshot",
      endless('{"value":"', "A".repeat(mega)),
      /more than \d+ MB/,
    ],
    [
      "a body that unpacks to more than it may",
      "GET /screenshot",
      (reply) =>
        void reply
          .setHeader("content-encoding", "gzip")
          .end(gzipSync(`{"value":"${"A".repeat(80 * mega)}"}`)),
      /more than \d+ MB/,
    ],
    [
      "a packing that was not asked for",
      "GET /source",
      (reply) => void reply.setHeader("content-encoding", "br").end("{}"),
      /packed/,
    ],
    ["100,000 levels", "GET /source", (reply) => void reply.end(deep), /levels/],
    ["3,000,000 values", "GET /source", (reply) => void reply.end(many), /values/],
    [
      "half an answer",
      "GET /source",
      (reply) => void reply.setHeader("content-length", 500).end('{"value":"<App').socket?.end(),
      undefined,
    ],
    [
      "headers without an end",
      "GET /source",
      (reply) => {
        reply.socket?.write(`HTTP/1.1 200 OK\r\n${`x-a: ${"a".repeat(8_000)}\r\n`.repeat(200)}`);
      },
      undefined,
    ],
  ] satisfies [
    string,
    string,
    Parameters<typeof appium.answers.set>[1],
    RegExp | undefined,
  ][])("that answers with %s is blamed, and holds no other call", async (_, route, answer, says) => {
    await dump();
    appium.answers.set(route, answer);
    expectBlamed(await beside(route.endsWith("source") ? dump() : shoot()), byAppium, says);
    expect(appium.sent()).toBeLessThan(100 * mega);
  });

  test.each([
    ["no picture", Buffer.from("hello").toString("base64")],
    [
      "a drawing",
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>').toString("base64"),
    ],
    ["a picture bomb", png(30_000, 30_000)],
    ["half a picture", png(390, 844)],
    ["a number", 5],
  ])("whose screenshot is %s is blamed", async (_, given) => {
    appium.answers.set("GET /screenshot", value(given));
    expectBlamed(await beside(shoot()), byAppium);
  });

  const strange = [null, 7, [], { a: 1 }, [["x"]]];
  test.each([
    ["GET /source", dump],
    ["POST /appium/device/get_clipboard", () => act("iphone", "read_clipboard")],
    ["POST /execute/sync", () => client.call("get_installed_apps", { device_id: "iphone" })],
    ["POST /se/log", () => client.call("view_logs", { service: "lab/iphone" })],
  ] as const)("that answers %s with values of other types is blamed", async (route, ask) => {
    for (const given of strange) {
      appium.answers.set(route, value(given));
      const { error, text } = await ask();
      expect(error?.code, text).not.toBe("INTERNAL");
      if (error) expectBlamed({ ...(await ask()), error }, byAppium);
    }
  });

  test("whose session has a path for an id, or no size, is blamed and not used", async () => {
    appium.answers.set("GET /source", value({ error: "invalid session id", message: "it ended" }));
    for (const [route, given] of [
      ["POST /session", { sessionId: "x/../../wd", capabilities: {} }],
      ["POST /session", { sessionId: 5, capabilities: [] }],
      ["POST /session", "session"],
      ["GET /window/rect", { width: "wide" }],
    ] as const) {
      await dump();
      appium.answers.set(route, value(given));
      expectBlamed(await dump(), byAppium);
      appium.answers.delete(route);
    }
  });

  test("whose error steers a terminal or is 1 MB long is quoted short and plain", async () => {
    const message = `\u001b[2J\u001b]0;owned\u0007\u202eno such screen ${"x".repeat(mega)}`;
    appium.answers.set("GET /source", (reply) => {
      reply.statusCode = 500;
      value({ error: `\u001b[31m${"e".repeat(mega)}`, message })(reply, Object.create(null));
    });
    const reply = await dump();
    expectBlamed(reply, /no such screen/);
    expect(JSON.stringify(reply.error).length).toBeLessThan(3_000);
    expect(reply.text).not.toContain("\u001b");
  });
});

describe("an adb server", () => {
  const shell = "shell,v2,raw:screencap";
  const open = () => client.call("capture_screenshot", { device_id: "phone" });

  test.each([
    ["a length that is no number", shell, adbBytes("FAILzzzz"), /adb server/],
    ["neither yes nor no", shell, adbBytes("HTTP/1.1 400 Bad Request\r\n\r\n"), /./],
    ["nothing", shell, (socket) => void socket.destroy(), /connection/],
    [
      "escapes in its refusal",
      shell,
      adbBytes(`FAIL0014\u001b[2J\u001b[31mowned\u0007\u0007\u0007\u0007\u0007\u0007`),
      /owned/,
    ],
  ] satisfies [
    string,
    string,
    Parameters<typeof adb.answers.set>[1],
    RegExp,
  ][])("that answers a command with %s is blamed, and holds no other call", async (_, service, answer, says) => {
    expect((await open()).error).toBeUndefined();
    adb.answers.set(service, answer);
    expectBlamed(await beside(open()), says);
  });

  test("whose output is one packet of 4 GB is stopped, and holds no other call", async () => {
    const part = Buffer.alloc(500_000, 97);
    adb.answers.set("shell,v2,raw:", (socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(part));
      };
      socket.on("drain", write).write(Buffer.concat([Buffer.from("OKAY"), packet(1, "", 0xffff_ffff)]));
      write();
    });
    const reply = await beside(client.call("get_installed_apps", { device_id: "phone" }));
    expectBlamed(reply, /wrote more than 8000000 bytes/);
    expect(adb.sent()).toBeLessThan(40 * mega);
  });

  test("that answers with a length that is no number is blamed before a device is used", async () => {
    adb.answers.set("host:version", adbBytes("OKAYzzzz0029"));
    expectBlamed(await beside(act("absent", "press_key", { key: "HOME" })), new RegExp(`port ${adb.port}`));
  });

  test("that lists thousands of devices with strange serials has few of them named, and none that steers a terminal", async () => {
    const serials = ["\u001b[2Jx", "../../etc", "a\rb", "x".repeat(5_000)];
    const lines = serials.map((one) => `${one} device transport_id:9`);
    for (let at = 0; at < 1_500; at++) lines.push(`s${at} device transport_id:${at + 10}`);
    adb.answers.set("host:devices", adbText(`${lines.join("\n")}\n`));
    const reply = await beside(act("absent", "press_key", { key: "HOME" }));
    expectBlamed(reply, /adb lists/, /and \d+ more/);
    expect(JSON.stringify(reply.error).length).toBeLessThan(4_000);
  });

  test("that sends lists without an end holds no other call", async () => {
    let round = 0;
    adb.answers.set("host:track", (socket) => {
      const one = () => {
        const line = `flood${round++ % 2} device transport_id:5\n`;
        return `${line.length.toString(16).padStart(4, "0")}${line}`;
      };
      const write = () => {
        while (!socket.destroyed && socket.write(one().repeat(50)));
      };
      socket.on("drain", write).write("OKAY");
      write();
    });
    await act("absent", "press_key", { key: "HOME" });
    for (let at = 0; at < 20; at++) expect((await other.call("list_services", {})).error).toBeUndefined();
  });
});
