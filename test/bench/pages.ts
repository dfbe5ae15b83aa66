import { createServer } from "node:http";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;

const nav = `<nav><a href="/small">Start</a> <a href="/reached">Next page</a> <a href="/login">Sign in</a></nav>`;

/** What it shows is there 200 ms behind the page, as that of a server that is asked. */
const sentScript = `<script>setTimeout(() => { document.querySelector("p").textContent = "Order " + new URLSearchParams(location.search).get("order") + " is sent"; }, 200)</script>`;

const pages: Readonly<Record<string, string>> = {
  "/small": page(
    "Small page",
    `${nav}<main><h1>Small page</h1><p>A page of ordinary size.</p><form><label>Name <input name="name"></label>
     <label>City <input name="city"></label><label><input type="checkbox" name="news"> Send me news</label>
     <button type="button">Save</button><button type="button">Cancel</button></form>
     <ul>${Array.from({ length: 12 }, (_, i) => `<li><a href="/small?item=${i}">Item ${i + 1}</a></li>`).join("")}</ul></main>`,
  ),
  "/reached": page(
    "Reached",
    `${nav}<main><h1>Reached page</h1><button>Only on the reached page</button></main>`,
  ),
  "/login": page(
    "Sign in",
    `<main><h1>Sign in to Example</h1><form method="post" action="/login">
     <p><label>Email <input name="email" type="email"></label></p>
     <p><label>Password <input name="password" type="password"></label></p>
     <p><label>Organisation <input name="organisation"></label></p>
     <p><label>One-time code <input name="code" inputmode="numeric"></label></p>
     <p><label><input type="checkbox" name="remember"> Remember me</label></p>
     <p><button>Sign in</button></p></form></main>`,
  ),
  "/account": page(
    "Account",
    `<header><a href="/account">Home</a> <a href="/orders">Orders</a> <a href="/login">Sign out</a></header>
     <main><h1>Welcome, Ada</h1><p>You have 3 open orders.</p><a href="/orders">See your orders</a></main>`,
  ),
  "/sent": page("Sent", `<main><h1>Your order</h1><p>Please wait.</p></main>${sentScript}`),
};

/**
 * Pages for both sides, on a free loopback port, with those that only one suite has. `?after=100` answers after 100 ms, as an app
 * across a network does.
 */
export type Site = { url(path: string): string; close(): Promise<void> };

export async function servePages(more: Readonly<Record<string, string>> = {}): Promise<Site> {
  const server = createServer((request, response) => {
    request.resume();
    const { pathname: path, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "POST" && path === "/login") {
      response.writeHead(303, { location: "/account" }).end();
      return;
    }
    if (path === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    const body = more[path] ?? pages[path];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" });
    const after = Number(searchParams.get("after"));
    setTimeout(() => response.end(body ?? page("Not found", "<h1>Not found</h1>")), after);
  });
  const port = await listenOnLoopback(server);
  return { url: (path) => `http://127.0.0.1:${port}${path}`, close: () => closeServer(server) };
}
