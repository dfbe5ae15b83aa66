import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { createUrlPolicy } from "#mcp-server/services/policy/urlPolicy.ts";
import { closeServer, freePort, listenOnLoopback } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice, type WebDevice } from "./webDevice.ts";

/** Every way of a page to another server, as a script with PORT for its port, and whether it leads there where it is allowed. */
const ways: Record<string, { script: string; isOpen: boolean }> = {
  fetch: { script: "fetch(`http://127.0.0.1:PORT/`).catch(() => 0)", isOpen: true },
  picture: { script: "new Image().src = `http://127.0.0.1:PORT/x.png`", isOpen: true },
  "web socket": { script: "new WebSocket(`ws://127.0.0.1:PORT/`)", isOpen: true },
  "web socket of a worker": {
    script:
      "new Worker(URL.createObjectURL(new Blob([`new WebSocket('ws://127.0.0.1:PORT/')`], {type: 'text/javascript'})))",
    isOpen: true,
  },
  "fetch of a service worker": {
    script: "navigator.serviceWorker.register(`/worker.js?PORT`)",
    isOpen: true,
  },
  "prefetch by a speculation rule": {
    script:
      "const s = document.createElement('script'); s.type = 'speculationrules';" +
      " s.textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: [`http://127.0.0.1:PORT/speculated`], eagerness: 'immediate' }]," +
      " prerender: [{ source: 'list', urls: [`http://127.0.0.1:PORT/prerendered`], eagerness: 'immediate' }] }); document.head.append(s)",
    isOpen: true,
  },
  preconnect: {
    script:
      "const l = document.createElement('link'); l.rel = 'preconnect'; l.href = `http://127.0.0.1:PORT`; document.head.append(l);" +
      " const p = document.createElement('link'); p.rel = 'prefetch'; p.href = `http://127.0.0.1:PORT/p`; document.head.append(p)",
    isOpen: true,
  },
  download: {
    script:
      "const a = document.createElement('a'); a.href = `http://127.0.0.1:PORT/a.bin`; a.download = ''; a.click()",
    isOpen: true,
  },
  redirect: { script: "fetch(`/redirect?to=http://127.0.0.1:PORT/`).catch(() => 0)", isOpen: true },
  frame: {
    script:
      "const f = document.createElement('iframe'); f.src = `http://127.0.0.1:PORT/`; document.body.append(f)",
    isOpen: true,
  },
  beacon: { script: "navigator.sendBeacon(`http://127.0.0.1:PORT/`, 'x')", isOpen: true },
  WebTransport: {
    script: "new WebTransport(`https://127.0.0.1:PORT/`).ready.catch(() => 0)",
    isOpen: false,
  },
  WebRTC: {
    script:
      "const c = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:PORT` }," +
      " { urls: `turn:127.0.0.1:PORT?transport=tcp`, username: 'u', credential: 'p' }] });" +
      " c.createDataChannel('x'); c.createOffer().then((offer) => c.setLocalDescription(offer))",
    isOpen: false,
  },
};

const hang = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

const rudeAnswers: Record<string, (response: ServerResponse) => unknown> = {
  "/407": (response) => response.writeHead(407).end(),
  "/reset": ({ req }) => req.socket.resetAndDestroy(),
  "/empty": ({ req }) => req.socket.end(),
};

/** A site, and servers on ports of their own that count who comes: connections and requests by TCP, packets by UDP. */
async function startLab() {
  const streams = new Set<ServerResponse>();
  const site = createHttpServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://site");
    response.setHeader("access-control-allow-origin", "*");
    const to = url.searchParams.get("to");
    if (to !== null) return void response.writeHead(302, { location: to }).end();
    if (url.pathname === "/stream") {
      hang(response).write("data: hello\n\n");
      streams.add(response);
      return void response.on("close", () => streams.delete(response));
    }
    if (url.pathname === "/worker.js")
      return void response
        .setHeader("content-type", "text/javascript")
        .end(`fetch("http://127.0.0.1:${url.search.slice(1)}/").catch(() => 0)`);
    const rude = rudeAnswers[url.pathname];
    if (rude) return void rude(response);
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>${request.headers.host}</title>`);
  });
  new WebSocketServer({ server: site }).on("connection", (socket) => socket.send("hello"));
  const port = await listenOnLoopback(site);
  const victims = await Promise.all([startVictim(), startVictim(), startVictim()]);
  const [allowed, denied, own] = victims;
  if (!allowed || !denied || !own) throw new Error("no victims");
  return {
    ...{ port, allowed, denied, own, streams },
    async close() {
      await closeServer(site);
      for (const victim of victims) await victim.close();
    },
  };
}

async function startVictim() {
  let visits = 0;
  const server = createHttpServer((_, response) => {
    visits++;
    response.end("hello");
  }).on("connection", () => visits++);
  const port = await listenOnLoopback(server);
  const udp = createSocket("udp4").on("message", () => visits++);
  await once(udp.bind(port, "127.0.0.1"), "listening");
  return {
    port,
    visits: () => visits,
    async close() {
      udp.close();
      await closeServer(server);
    },
  };
}

/** A key and its certificate for 127.0.0.1, which no browser trusts. */
function selfSigned(): { key: string; cert: string } {
  const options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"];
  const names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "-"];
  const both = execFileSync("openssl", [...options, ...names], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { key: both, cert: both };
}

const lab = shared(startLab);
/** Answers of the name server, in turn; the last one stays. */
const answers: Record<string, string[]> = {};
const device: WebDevice = shared(async () => {
  const policy = createUrlPolicy(
    { allow: [], deny: [`localhost:${lab.denied.port}`, "127.0.0.2"] },
    { port: () => lab.own.port },
  );
  return openWebDevice({
    policy,
    resolve: async (host) => {
      if (/(^|\.)localhost$/.test(host)) return ["127.0.0.1"];
      const [answer = "", ...later] = answers[host] ?? [];
      if (later.length > 0) answers[host] = later;
      if (answer === "") throw Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" });
      return [answer];
    },
  });
});

const page = (path = "/", host = "127.0.0.1") =>
  device.run("navigate_to_url", { url: `http://${host}:${lab.port}${path}` });

describe("a page reaches no address that the policy denies", () => {
  it.each(Object.keys(ways))("by %s", async (name) => {
    const way = ways[name];
    if (way === undefined) throw new Error("no way");
    await page();
    const [before, denials] = [lab.allowed.visits(), device.web.noticesAfter(0).length];
    const run = (port: number) => device.js(`${way.script.replaceAll("PORT", String(port))}; await 0`);
    for (const port of [lab.denied.port, lab.own.port])
      await run(port).catch((error: unknown) => expect(error).toHaveProperty("code", "URL_DENIED"));
    await run(lab.allowed.port);
    // The one that is allowed was asked for last.
    if (way.isOpen)
      await expect.poll(() => lab.allowed.visits(), { timeout: 10_000 }).toBeGreaterThan(before);
    // What has no proxy of its own would be sent at once: a round through the browser and the network is longer.
    else for (let i = 0; i < 10; i++) await device.js("await fetch('/?' + Math.random())");
    if (way.isOpen) expect(device.web.noticesAfter(0).length).toBeGreaterThan(denials);
    expect([lab.denied.visits(), lab.own.visits()]).toEqual([0, 0]);
  }, 30_000);

  it("by its first act, before anything was loaded", async () => {
    await device.run("load_storage_state", {});
    const socket = (port: number) =>
      device.js(
        `return new Promise((done) => { const s = new WebSocket("ws://localhost:${port}/"); s.onmessage = () => done("open"); s.onerror = () => done("refused"); })`,
      );
    expect(await socket(lab.denied.port)).toBe("refused");
    expect(await socket(lab.port)).toBe("open");
    expect(lab.denied.visits()).toBe(0);
  });

  it("by a name whose address changes, or that another name hides", async () => {
    const victim = createServer(() => visits++);
    let visits = 0;
    await once(victim.listen(lab.port, "127.0.0.2"), "listening");
    try {
      answers["rebind.test"] = ["127.0.0.1", "127.0.0.2"];
      answers["hidden.test"] = ["127.0.0.2"];
      await page("/", "rebind.test");
      expect(await device.js("return document.title")).toBe(`rebind.test:${lab.port}`);
      expect(await device.js(`return fetch("/").then((r) => r.status)`)).toBe(200);
      expect((await failureOf(page("/", "hidden.test"))).code).toBe("URL_DENIED");
      await page();
      const fetched = `return fetch("http://hidden.test:${lab.port}/").then(() => "read", () => "refused")`;
      expect(await device.js(fetched)).toBe("refused");
      expect(visits).toBe(0);
    } finally {
      await closeServer(victim);
    }
  });
});

it("says why an address does not answer, as without a proxy", async () => {
  const down = await freePort();
  const reasons: Record<string, string> = {
    [`http://127.0.0.1:${down}/`]: "ERR_CONNECTION_REFUSED",
    [`https://127.0.0.1:${down}/`]: "ERR_CONNECTION_REFUSED",
    [`http://nowhere.test:${lab.port}/`]: "ERR_NAME_NOT_RESOLVED",
    [`https://nowhere.test:${lab.port}/`]: "ERR_NAME_NOT_RESOLVED",
    [`http://127.0.0.1:${lab.port}/reset`]: "ERR_CONNECTION_RESET",
    [`http://127.0.0.1:${lab.port}/empty`]: "ERR_EMPTY_RESPONSE",
    [`https://127.0.0.1:${lab.port}/`]: "ERR_SSL_PROTOCOL_ERROR",
    [`http://127.0.0.1:${lab.port}/redirect?to=http://127.0.0.1:${down}/`]: "ERR_CONNECTION_REFUSED",
  };
  for (const [url, reason] of Object.entries(reasons)) {
    const failure = await failureOf(device.run("navigate_to_url", { url }));
    expect([failure.code, failure.details.reason], url).toEqual(["APP_UNREACHABLE", reason]);
  }
  await page();
  device.dropNotices();
  expect(await device.js(`return fetch("/reset").then(() => "answer", () => "rejected")`)).toBe("rejected");
  expect(await device.noticed("http_error")).toEqual([expect.stringContaining("ERR_CONNECTION_RESET")]);
});

it("lets no server take the proxy's password from the browser", async () => {
  await page();
  expect(await device.js(`return fetch("/407").then(() => "answered", () => "rejected")`)).toBe("rejected");
  expect(await device.js(`return fetch("/").then((r) => r.status)`)).toBe(200);
  expect((await failureOf(page("/407"))).code).toBe("APP_UNREACHABLE");
  expect((await page()).data).toMatchObject({ status: 200 });
});

it("carries https and HTTP/2 unread, and leaves certificates to the browser", async () => {
  const [trusting, key] = [await openWebDevice({ settings: { ignore_https_errors: true } }), selfSigned()];
  const server = createSecureServer(key, (request, response) => {
    let bytes = 0;
    request.on("data", (chunk) => (bytes += chunk.length)).on("end", () => response.end(String(bytes)));
  });
  const url = `https://127.0.0.1:${await listenOnLoopback(server)}/`;
  try {
    const failure = await failureOf(device.run("navigate_to_url", { url }));
    expect([failure.code, failure.details.reason]).toEqual(["APP_UNREACHABLE", "ERR_CERT_AUTHORITY_INVALID"]);
    await trusting.run("navigate_to_url", { url });
    const sent = await trusting.js(`
      const answer = await fetch("/upload", { method: "POST", body: new Blob([new Uint8Array(20_000_000)]) });
      return [await answer.text(), performance.getEntriesByName(answer.url)[0].nextHopProtocol]`);
    expect(sent).toEqual(["20000000", "h2"]);
  } finally {
    await trusting.close();
    server.close();
  }
}, 30_000);

it("carries more than 50 open streams of one page", async () => {
  await page();
  const opened = await device.js(`
    const all = (kind, length, url) => Promise.all(Array.from({ length }, (_, i) => new Promise((done) => {
      const one = new kind(url.replace("HOST", "h" + i + ".localhost:${lab.port}"));
      one.onmessage = () => done(1);
    })));
    return (await Promise.all([all(EventSource, 50, "http://HOST/stream"), all(WebSocket, 8, "ws://HOST/")])).flat().length`);
  expect([opened, lab.streams.size]).toEqual([58, 50]);
});
