import { describe, expect, it } from "vitest";
import { z } from "zod";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, makeWebDevice, openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const page = `<!doctype html><title>Shop</title><p id=out>nothing</p><script>
  console.log("<b>ready</b>"); console.warn("low stock"); console.error("Authorization: Bearer abcdefgh12345678");
  const show = (text) => { out.textContent = text; };
  const ask = (url, options) => fetch(url, options).then(async (r) => show(r.status + " " + await r.text()), () => show("no answer"));
  </script><button onclick="setTimeout(() => { throw new Error('broken basket') })">Break</button>
  <button onclick="ask('/api/login', { method: 'POST', body: JSON.stringify({ user: 'ada', password: 'hunter22' }) })">Log in</button>
  <button onclick="ask('/api/orders?page=1')">Orders</button><button onclick="ask('/api/slow')">Slow</button>
  <button onclick="for (let i = 0; i < 300; i++) fetch('/api/many?i=' + i)">Many</button>
  <button onclick="fetch('/api/stream'); fetch('/api/huge')">Endless</button>
  <button onclick="for (let i = 0; i < 60; i++) console.error('fault ' + i)">Errors</button>
  <button onclick="for (let i = 0; i < 5000; i++) console.log('noise ' + i, { password: 'hunter22' })">Noise</button>`;

/** Requests that reached the server, in order. */
const reached: string[] = [];
const site = shared(() =>
  serve((request, response) => {
    const url = request.url ?? "";
    reached.push(url);
    if (url === "/api/login")
      return void response
        .writeHead(500, { "content-type": "application/json" })
        .end('{"error":"no database","access_token":"s3cr3ts3cr3t"}');
    if (url === "/api/stream")
      return void response.writeHead(200, { "content-type": "text/plain" }).write("a");
    if (url === "/api/huge")
      return void response
        .writeHead(200, { "content-type": "text/plain" })
        .end(`head ${"a".repeat(30_000_000)}`);
    if (url.startsWith("/api/"))
      return void response.setHeader("content-type", "application/json").end("[1,2]");
    if (url === "/app.js") return void response.setHeader("content-type", "text/javascript").end("1");
    response
      .setHeader("set-cookie", ["sid=abcdef; HttpOnly", "theme=dark"])
      .setHeader("content-type", "text/html")
      .end(page);
  }),
);
const device = shared(() => openWebDevice());

const open = (on: WebDevice, path = "/") => on.run("navigate_to_url", { url: `${site.url}${path}` });
const says = async (on: WebDevice, text: string) =>
  expect.poll(async () => (await on.run("get_text", { selector: "css=#out" })).data?.value).toBe(text);
const click = (on: WebDevice, selector: string) => on.run("click_element", { selector });
const logged = z.object({
  lines: z.array(z.object({ level: z.string(), text: z.string(), place: z.string().optional() })),
  last: z.number(),
  older: z.number().optional(),
});
const readConsole = async (params: object = {}) =>
  logged.parse((await device.run("read_console", { ...params })).data);
const sent = z.object({
  requests: z.array(z.looseObject({ url: z.string() })),
  last: z.number(),
  older: z.number().optional(),
});
const readNetwork = async (on: WebDevice, params: object = {}) =>
  sent.parse((await on.run("read_network", { ...params })).data);

describe("read_console", () => {
  it("gives lines by level with their place, and those since an earlier reply; credentials are masked", async () => {
    await open(device);
    const { lines, last } = await readConsole();
    expect(lines.slice(-3)).toMatchObject([
      { level: "log", text: "<b>ready</b>", place: expect.stringMatching(/\/:\d+$/) },
      { level: "warning", text: "low stock" },
      { level: "error", text: "Authorization: [masked]" },
    ]);
    expect((await readConsole({ since: last })).lines).toEqual([]);
    await click(device, "Break");
    await expect
      .poll(async () => (await readConsole({ since: last })).lines)
      .toMatchObject([
        { level: "exception", text: "broken basket", place: expect.stringContaining(site.url) },
      ]);
    expect((await readConsole({ levels: ["warning"], limit: 1 })).lines).toMatchObject([
      { text: "low stock" },
    ]);
    expect(await readConsole({ limit: 1 })).toMatchObject({ older: expect.any(Number) });
  });

  it("a page that logs without end pushes out no other notice, and is not listened to for long", async () => {
    const own = await openWebDevice();
    const noticed = () => own.web.noticesAfter(0).map(({ text }) => text);
    try {
      await open(own);
      await click(own, "Log in");
      await click(own, "Errors");
      await expect.poll(noticed).toContain("fault 59");
      expect(noticed()).not.toContain("fault 9");
      expect(noticed()).toContainEqual(expect.stringMatching(/^HTTP_ERROR: .* answered 500/));
      await click(own, "Noise");
      await expect.poll(noticed).toContainEqual(expect.stringMatching(/^Over 2000 lines in a second/));
      const { lines } = logged.parse((await own.run("read_console", { limit: 1 })).data);
      expect(lines).toMatchObject([{ text: "noise 4999 {password: [masked]}" }]);
    } finally {
      await own.close();
    }
  });
});

describe("read_network", () => {
  it("gives method, status, time and, when asked, bodies without credentials", async () => {
    await open(device);
    const { last } = await readNetwork(device);
    await click(device, "Log in");
    await says(device, '500 {"error":"no database","access_token":"s3cr3ts3cr3t"}');
    await click(device, "Orders");
    const { requests } = await readNetwork(device, { since: last, bodies: true });
    expect(requests).toMatchObject([
      {
        ...{
          method: "POST",
          url: `${site.url}/api/login`,
          type: "fetch",
          status: 500,
          ms: expect.any(Number),
        },
        ...{
          sent: '{"user":"ada","password":"[masked]"}',
          answer: '{"error":"no database","access_token":"[masked]"}',
        },
      },
      { method: "GET", url: `${site.url}/api/orders?page=1`, status: 200, answer: "[1,2]" },
    ]);
    expect((await readNetwork(device, { since: last, failed: true })).requests).toHaveLength(1);
    const orders = await readNetwork(device, { url: "/api/orders", method: "get", limit: 1 });
    expect(orders.requests).toMatchObject([{ status: 200 }]);
    expect(orders.requests[0]).not.toHaveProperty("answer");
  });

  it("does not wait for an answer that goes on, and shows little of a huge one", async () => {
    await open(device);
    const { last } = await readNetwork(device);
    await click(device, "Endless");
    const read = async () => (await readNetwork(device, { since: last, bodies: true })).requests;
    await expect.poll(async () => (await read()).map(({ status }) => status)).toEqual([200, 200]);
    const [stream, huge] = await read();
    expect(stream).toMatchObject({ answer: expect.stringContaining("still coming") });
    expect(stream).not.toHaveProperty("ms");
    expect(String(huge?.answer).length).toBeLessThan(2_100);
  });

  it("keeps the last 200 requests and no more", async () => {
    await open(device);
    await click(device, "Many");
    await expect
      .poll(async () => (await readNetwork(device, { limit: 200 })).requests.at(-1)?.url)
      .toContain("i=299");
    const all = await readNetwork(device, { limit: 200 });
    expect([all.requests.length, all.older]).toEqual([200, undefined]);
  });
});

describe("mock_request", () => {
  const mock = (on: WebDevice, params: object) => on.run("mock_request", { ...params });

  it("answers, fails and delays in place of the server, as often as wanted, and the server answers again after", async () => {
    await open(device);
    const before = reached.length;
    await mock(device, { url: "/api/orders", answer: { status: 418, body: { a: ["b"] } }, times: 1 });
    await click(device, "Orders");
    await says(device, '418 {"a":["b"]}');
    expect(reached.slice(before)).toEqual([]);
    await click(device, "Orders");
    await says(device, "200 [1,2]");
    await mock(device, { url: "/api/orders", method: "post", fail: "refused" });
    await mock(device, { url: "/\\/api\\/(orders|x)/", match: "pattern", fail: "timed_out" });
    await click(device, "Orders");
    await says(device, "no answer");
    const [last] = (await readNetwork(device, { url: "/api/orders", limit: 1 })).requests;
    expect(last).toMatchObject({ mocked: true, failure: expect.stringContaining("TIMED_OUT") });
    await mock(device, { url: "/\\/api\\/(orders|x)/", match: "pattern", delay_ms: 300 });
    await click(device, "Orders");
    await says(device, "200 [1,2]");
    const [late] = (await readNetwork(device, { url: "/api/orders", limit: 1 })).requests;
    expect(Number(late?.ms)).toBeGreaterThanOrEqual(290);
    expect((await failureOf(mock(device, { url: "/api/none" }))).code).toBe("ACTION_REJECTED");
    expect((await mock(device, {})).message).toMatch(/^3 ended after \d+ requests; 0 mocks are set$/);
  });

  it("a delayed request goes on as soon as its mock ends", async () => {
    await open(device);
    await mock(device, { url: "/api/slow", delay_ms: 60_000 });
    await mock(device, { url: "/api/other", answer: {} });
    await click(device, "Slow");
    await mock(device, { url: "/api/slow" });
    await says(device, "200 [1,2]");
    await mock(device, {});
  });

  it("what a mock fails says nothing about the app's servers", async () => {
    await open(device);
    device.dropNotices();
    const health = device.web.health?.watch();
    await mock(device, { url: "/api/orders", fail: "refused" });
    await click(device, "Orders");
    await says(device, "no answer");
    expect((await health?.ask(500))?.unreachable).toBeUndefined();
    health?.end();
    expect(device.web.noticesAfter(0).filter(({ text }) => text.includes("REFUSED"))).toEqual([]);
    await mock(device, {});
  });

  it("an answer that would be code in the page needs unsafe.javascript, and the policy for addresses stays", async () => {
    const strict = await openWebDevice({ javascript: false, denyUrl: (url) => url.endsWith("/denied") });
    try {
      await open(strict);
      await mock(strict, {
        url: "/",
        match: "contains",
        answer: { body: "<p id=out>fake</p>", headers: { "content-type": "text/html" } },
      });
      await open(strict);
      await says(strict, "nothing");
      expect((await strict.noticed("url_denied"))[0]).toMatch(/needs unsafe\.javascript/);
      await mock(strict, {});
      const before = reached.length;
      await mock(strict, { url: "/api/orders", answer: { status: 302, headers: { location: "/denied" } } });
      await click(strict, "Orders");
      await says(strict, "no answer");
      expect(reached.slice(before)).toEqual([]);
      await mock(strict, { url: "denied", delay_ms: 1 });
      expect((await failureOf(open(strict, "/denied"))).code).toBe("URL_DENIED");
    } finally {
      await strict.close();
    }
    await mock(device, {
      url: site.url,
      match: "contains",
      answer: { body: "<p id=out>fake</p>", headers: { "content-type": "text/html" } },
    });
    await open(device);
    await says(device, "fake");
    await mock(device, {});
  });

  it("is gone with the fresh start that set it, at the hand-over to another client, and with the browser", async () => {
    const own = await makeWebDevice();
    const isMocked = async () => {
      await open(own);
      await click(own, "Orders");
      await expect
        .poll(async () => (await own.run("get_text", { selector: "css=#out" })).data?.value)
        .not.toBe("nothing");
      return String((await own.run("get_text", { selector: "css=#out" })).data?.value).includes("fake");
    };
    const set = () => mock(own, { url: "/api/orders", answer: { body: "fake" } });
    try {
      await own.web.open(NEVER);
      const start = await own.web.isolation?.enter({}, NEVER);
      await set();
      expect(await isMocked()).toBe(true);
      await start?.leave();
      expect(await isMocked()).toBe(false);
      await set();
      own.web.handOver?.();
      await own.web.open(NEVER);
      expect(await isMocked()).toBe(false);
      await set();
      await own.web.close();
      await own.web.open(NEVER);
      expect(await isMocked()).toBe(false);
    } finally {
      await own.close();
    }
  });
});

describe("cookies and storage", () => {
  it("are read, set and deleted by name, and values of logins are masked", async () => {
    await open(device);
    const cookies = async (params: object = {}) =>
      (await device.run("get_cookies", { ...params })).data?.cookies;
    expect(await cookies()).toMatchObject([
      { name: "sid", value: "[masked]", http_only: true },
      { name: "theme", value: "dark", path: "/" },
    ]);
    await device.run("set_cookie", { name: "plan", value: "gold", expires_in_s: 600 });
    expect(await cookies({ name: "plan" })).toMatchObject([
      { value: "gold", expires: expect.stringMatching(/^20/) },
    ]);
    expect(await device.js("return document.cookie")).toContain("plan=gold");
    await device.run("delete_cookies", { name: "plan" });
    expect(await cookies({ name: "plan" })).toEqual([]);
    await device.run("delete_cookies");
    expect(await cookies({ url: site.url })).toEqual([]);

    const items = async (params: object = {}) => (await device.run("get_storage", { ...params })).data?.items;
    await device.run("set_storage", { name: "cart", value: "3" });
    await device.run("set_storage", { name: "auth_token", value: "verysecret", area: "session" });
    expect(await items()).toEqual([{ name: "cart", value: "3" }]);
    expect(await items({ area: "session" })).toEqual([{ name: "auth_token", value: "[masked]" }]);
    expect(await device.js("return sessionStorage.getItem('auth_token')")).toBe("verysecret");
    await device.run("set_storage", { name: "cart" });
    expect(await items()).toEqual([]);
  });

  it("of a page that is not a site are refused with what to do", async () => {
    await device.run("navigate_to_url", { url: "about:blank" });
    for (const command of ["get_cookies", "get_storage"])
      expect(await failureOf(device.run(command))).toMatchObject({
        code: "INVALID_PARAMS",
        message: expect.stringContaining("Open a page of the app first"),
      });
  });
});

it("what was logged and requested lately is there for a report, faults first and with bodies", async () => {
  await open(device);
  await click(device, "Break");
  await click(device, "Log in");
  await says(device, '500 {"error":"no database","access_token":"s3cr3ts3cr3t"}');
  const activity = await device.web.activity?.recent(60_000);
  expect(activity?.console).toContainEqual(
    expect.objectContaining({ level: "exception", text: "broken basket" }),
  );
  expect(activity?.console.length).toBeLessThanOrEqual(30);
  expect(activity?.requests.length).toBeLessThanOrEqual(30);
  expect(activity?.requests.at(-1)).toMatchObject({ status: 500, sent: expect.stringContaining("[masked]") });
  expect(await device.web.activity?.recent(0)).toEqual({ console: [], requests: [] });
});
