import { afterEach, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { killBrowsers } from "./processes.ts";
import { openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
/** What the browser keeps is known this soon after a login. */
const knownAfterMs = 1_000;

const page = `<!doctype html><title>Shop</title><button id="in">Log in</button><button id="off">Log in and leave</button>
  <button id="home">Log in and go home</button><button id="pop">Log in elsewhere</button><output id="seen"></output>
  <script>
    const show = () => { seen.textContent = document.cookie.includes("user" + location.port + "=ada") + " " + localStorage.user; };
    const login = () => { document.cookie = "user" + location.port + "=ada; max-age=9999"; localStorage.user = "ada"; show(); };
    document.cookie = "visited" + location.port + "=yes; max-age=9999";
    document.getElementById("in").onclick = login;
    document.getElementById("off").onclick = () => { login(); setTimeout(() => { location.href = new URLSearchParams(location.search).get("next"); }, 100); };
    document.getElementById("home").onclick = () => { login(); location.href = "/home"; };
    document.getElementById("pop").onclick = () => window.open(new URLSearchParams(location.search).get("next"), "_blank", "noopener");
    if (location.hash === "#login") login();
    show();
  </script>`;

const sites = Array.from({ length: 16 }, () =>
  shared(() =>
    serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(page);
    }),
  ),
);
let device: WebDevice;
afterEach(() => device.close());

const url = (at: number) => `${sites[at]?.url}/`;
const urls = () => sites.map((_, at) => url(at));
const visit = (address: string) => device.run("navigate_to_url", { url: address });
const seen = () => device.js("return document.getElementById('seen').textContent");

/** Kills the browser as soon as a login must be known. */
async function killed() {
  await new Promise((due) => setTimeout(due, knownAfterMs));
  killBrowsers();
  await expect.poll(() => device.web.isAlive(), { timeout: 10_000 }).toBe(false);
  await device.web.open(NEVER);
}

describe("a browser that is killed a second after a login", () => {
  it("comes back with the cookies and local storage of all sixteen sites", { timeout: 120_000 }, async () => {
    device = await openWebDevice();
    for (const address of urls()) {
      await visit(address);
      await device.run("click_element", { selector: "Log in" });
    }
    await killed();
    for (const address of urls()) {
      await visit(address);
      expect(await seen()).toBe("true ada");
    }
  });

  it("comes back with what a site kept before it led to another", async () => {
    device = await openWebDevice();
    await visit(`${url(0)}?next=${encodeURIComponent(url(1))}`);
    await device.run("click_element", { selector: "Log in and leave" });
    await expect.poll(() => device.js("return location.href")).toBe(url(1));
    await killed();
    await visit(url(0));
    expect(await seen()).toBe("true ada");
  });

  it("comes back with what a page kept right before it led to another of its site", async () => {
    device = await openWebDevice();
    // A site for each round: what a round finds is not left from the round before.
    for (const address of urls().slice(0, 5)) {
      await visit(address);
      expect(await seen()).toBe("false undefined");
      await device.run("click_element", { selector: "Log in and go home" });
      await expect.poll(() => device.js("return location.pathname")).toBe("/home");
      await killed();
      await visit(address);
      expect(await seen()).toBe("true ada");
    }
  });

  it("comes back with what a new tab kept", async () => {
    device = await openWebDevice();
    const tab = `${url(2)}#login`;
    await visit(`${url(0)}?next=${encodeURIComponent(tab)}`);
    await device.run("click_element", { selector: "Log in elsewhere" });
    await visit(url(1));
    await killed();
    await visit(url(2));
    expect(await seen()).toBe("true ada");
  });

  it("keeps nothing that was removed", async () => {
    device = await openWebDevice();
    await visit(url(0));
    await device.run("click_element", { selector: "Log in" });
    await device.js("localStorage.clear(); document.cookie = 'user' + location.port + '=ada; max-age=0'");
    await killed();
    await visit(url(0));
    expect(await seen()).toBe("false undefined");
  });
});
