import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findBrowser } from "@labwright/controllers";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { closeServer, listenOnLoopback } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { openWebDevice } from "./webDevice.ts";

const never = new AbortController().signal;

/** What the browser says in place of a text that it would answer with. */
let lie = (text: string): string => text;

/** A real browser behind a DevTools address that answers what {@link lie} makes of its answers. */
async function openLyingBrowser() {
  const profile = await mkdtemp(join(tmpdir(), "labwright-liar-"));
  const browser = spawn(findBrowser({ headless: true })?.path ?? chromium.executablePath(), [
    ...[
      "--headless",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "--disable-background-networking",
    ],
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ]);
  const address = await devtoolsAddress(browser.stderr);
  const server = createServer();
  const port = await listenOnLoopback(server);
  new WebSocketServer({ server }).on("connection", (client) => {
    const real = new WebSocket(address, { maxPayload: 1e9 });
    const early: string[] = [];
    client.on("message", (data) => {
      if (real.readyState === WebSocket.OPEN) real.send(String(data));
      else early.push(String(data));
    });
    real.on("open", () => {
      for (const text of early) real.send(text);
    });
    real.on("message", (data) => client.send(changed(String(data))));
    client.on("close", () => real.close());
  });
  const device = await openWebDevice({ settings: { cdp: `ws://127.0.0.1:${port}/` } });
  return {
    device,
    async close() {
      await device.close();
      await closeServer(server);
      browser.kill("SIGKILL");
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function devtoolsAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address) return address;
  }
  throw new Error("the browser ended");
}

function changed(message: string): string {
  const parsed = JSON.parse(message);
  const value = parsed.result?.result?.value;
  if (typeof value !== "string" || !/^[[{"]/.test(value)) return message;
  parsed.result.result.value = lie(value);
  return JSON.stringify(parsed);
}

const opened = shared(openLyingBrowser);
const look = () => {
  const { elements } = opened.device.web;
  if (elements === undefined) throw new Error("no elements");
  return elements.dump({ interactiveOnly: false }, never);
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "ok",
    (error) => String(error.code ?? error),
  );
const isLook = (text: string) => text.startsWith('{"elements":[');
const body = `<h1>Heading</h1><label>Name <input value="Ada"></label>
  <select><option>a<option>b</select><table><tr><th>h</th></tr><tr><td>c</td></tr></table>`;

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

/** The value, once for each place in it, with something else there. */
function withLies(value: Json, other: Json): Json[] {
  const lists = Array.isArray(value)
    ? value.flatMap((part, at) => withLies(part, other).map((one) => value.with(at, one)))
    : [];
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [other, ...lists];
  const inside = Object.entries(value).flatMap(([key, part]) =>
    withLies(part, other).map((one) => ({ ...value, [key]: one })),
  );
  return [other, ...inside];
}

it("a snapshot whose answer has a wrong type in any place is refused, and the next one is as ever", async () => {
  let seen = "";
  lie = (text) => {
    if (isLook(text)) seen = text;
    return text;
  };
  await opened.device.show(body);
  const before = await look();
  const lies = withLies(JSON.parse(seen), { lie: 1 });
  expect(lies.length).toBeGreaterThan(60);
  for (const one of lies) {
    lie = (text) => (isLook(text) ? JSON.stringify(one) : text);
    expect([await codeOf(look()), one]).toEqual(["DEVICE_ERROR", one]);
  }
  lie = (text) => text;
  expect((await look()).elements).toEqual(before.elements);
});

const first = (change: object) => (text: string) => {
  const page = JSON.parse(text);
  Object.assign(page.elements[0], change);
  return JSON.stringify(page);
};
const lies: readonly [what: string, change: (text: string) => string, code: string][] = [
  ["a ref of another frame", first({ ref: "f9e1" }), "DEVICE_ERROR"],
  ["a ref that was never given", first({ ref: "e999999999" }), "DEVICE_ERROR"],
  ["a ref that is a selector", first({ ref: "css=*" }), "DEVICE_ERROR"],
  ["a box of negative size", first({ box: [0, 0, -1, 5] }), "DEVICE_ERROR"],
  ["a box of no numbers", first({ box: [Number.NaN, 0, 1, 5] }), "DEVICE_ERROR"],
  ["a box without end", (text) => text.replace(/"box":\[\d+/, '"box":[1e999'), "DEVICE_ERROR"],
  ["a name of 20 MB", first({ name: "n".repeat(2e7) }), "ACTION_REJECTED"],
  [
    "a name of 100,000 lists",
    (text) => text.replace(/"name":"[^"]*"/, `"name":${"[".repeat(1e5)}${"]".repeat(1e5)}`),
    "DEVICE_ERROR",
  ],
  ["no JSON", () => "{", "DEVICE_ERROR"],
  ["its own word for a length", () => "!99999999999999999999999999", "ACTION_REJECTED"],
  ["a prototype", (text) => text.replace("{", '{"__proto__":{"isAdmin":true},"constructor":1,'), "ok"],
];
it.each(lies)("a snapshot that answers with %s is refused or loses it", async (_what, change, code) => {
  lie = (text) => text;
  await opened.device.show(body);
  lie = (text) => (isLook(text) ? change(text) : text);
  expect(await codeOf(look())).toBe(code);
  lie = (text) => text;
  expect(Object.keys(await look())).not.toContain("constructor");
});

it.each([
  ["get_text", { selector: "Name" }],
  ["input_text", { selector: "Name", text: "x" }],
  ["click_element", { selector: "css=h1" }],
  ["select_option", { selector: "css=select", option: "b" }],
  ["get_table", { selector: "css=table" }],
])("%s fails in plain words when every answer is a list of a list", async (command, input) => {
  lie = (text) => text;
  await opened.device.show(body);
  lie = () => "[[1]]";
  const failure = await opened.device.run(command, input).catch((error) => error);
  lie = (text) => text;
  expect(failure).toMatchObject({ code: "DEVICE_ERROR", message: expect.stringContaining("cannot give") });
});
