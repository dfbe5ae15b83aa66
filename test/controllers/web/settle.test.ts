import { chromium } from "playwright-core";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { installRest } from "#controllers/web/page/rest.ts";
import type { Site } from "../../bench/pages.ts";
import { click, onClick, type Pattern } from "../../bench/settlePattern.ts";
import { serveSettleSite } from "../../bench/settleSite.ts";
import { browserArgs, findBrowser } from "../../bench/sides.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const page = (name: string, html: string, pages?: Pattern["pages"]): Pattern => ({
  name,
  html,
  ...(pages && { pages }),
  action: click,
  outcome: /./,
  rests: true,
});

/** What a page may do at a key that is only a letter; each leads to another page. */
const leading: [what: string, script: string][] = [
  ["sets its location", `location.href = next`],
  ["sets its location after a promise", `await 0; location.href = next`],
  ["sets its location by a timer", `setTimeout(() => { location.href = next })`],
  ["sets its location by a timer of a few milliseconds", `setTimeout(() => { location.href = next }, 3)`],
  ["clicks a link", `const link = document.createElement("a"); link.href = next; link.click()`],
  ["submits a form", `const form = $("go").form; form.action = next; form.submit()`],
  ["asks for a submit", `const form = $("go").form; form.action = next; form.requestSubmit()`],
  ["opens a tab", `open(next)`],
];
/** The same a few milliseconds after the key went up, by who hears that. */
const leadingUp: [who: string, script: string][] = [
  ["its field", `$("go").onkeyup = leave`],
  ["the document", `document.addEventListener("keyup", leave)`],
];
const leadingUpPage = (script: string) =>
  `<h1>Before</h1><form><input id="go"></form><script>
   const leave = () => setTimeout(() => { location.href = location.pathname + "/next?wait=100" }, 3);
   ${script};</script>`;
const nextPage = `<h1>Next</h1><p id="keys"></p><script>onkeydown = ({ key }) => $("keys").append(key);</script>`;
const leadingPage = (script: string) =>
  `<h1>Before</h1><form><input id="go"></form><script>const next = location.pathname + "/next?wait=100";
   $("go").onkeydown = async (event) => { event.preventDefault(); ${script} };</script>`;

const scriptMs = [0, 5, 10, 20, 30, 40, 50];

const site: Site = await serveSettleSite([
  ...scriptMs.map((ms) =>
    page(`script-${ms}`, `<a id="go" href="/pattern/script-${ms}/next">Go</a>`, {
      next: `<script src="/script/${ms}"></script><button>Only on the reached page</button>`,
    }),
  ),
  page(
    "chain",
    onClick(`await get(120, "a"); await sleep(80); await get(150, "b"); show("End of the chain");`),
  ),
  page(
    "menu",
    onClick(
      `$("menu").hidden = false;`,
      `<div id="menu" hidden><button>Rename</button></div><style>
         @keyframes grow { from { visibility: hidden } 99% { visibility: hidden } to { visibility: visible } }
         #menu { animation: grow 0.3s }</style>`,
    ),
  ),
  page("slow", onClick(`await get(20000); show("Too late");`)),
  page(
    "spinner",
    onClick(
      `document.querySelector(".spinner").hidden = false;`,
      `<div class="spinner" hidden>*</div><style>@keyframes turn { to { opacity: 0 } } .spinner { animation: turn 20s }</style>`,
    ),
  ),
  page(
    "poll",
    onClick(
      `await get(60, "answer"); show("Answer");`,
      `<script>let polls = 0;
    const poll = async () => { await fetch("/api/10/poll"); polls++; setTimeout(poll, 40); }; poll();</script>`,
    ),
  ),
  page("steps", `<a id="go" href="/pattern/steps/next?wait=300">Go</a>`, {
    next: `<button id="go" onclick="document.title = 'Second step'">Go</button>`,
  }),
  page(
    "endless",
    onClick("", `<style>@keyframes turn { to { opacity: 0 } } h1 { animation: turn 1s infinite }</style>`),
  ),
  page("hung", `<a id="go" href="/api/20000">Go</a><p>Still here</p>`),
  ...leading.map(([what, script]) => page(what, leadingPage(script), { next: nextPage })),
  ...leadingUp.map(([who, script]) => page(who, leadingUpPage(script), { next: nextPage })),
  page("frame", `<iframe title="Inner" src="/pattern/frame/inner"></iframe>`, {
    inner: onClick(`await get(200); show("Inside");`),
  }),
]);

const tall = (go: string, styles = "") => `<style>${styles}</style><h1>Top</h1>
  <button id="go" onclick='${go}'>Go</button><a id="link" href="#end">To the end</a>
  <div id="view" style="height: 100px; overflow: auto"><div style="height: 3000px">Long</div></div>
  <div style="height: 3000px">Page</div><div id="end">End</div>`;
/** A scroll that begins a few frames after it was asked for, and what has scrolled when it is over. */
const smoothScrolls = [
  ["scrollTo of an element", tall(`view.scrollTo({ top: 900, behavior: "smooth" })`), "view.scrollTop", 900],
  ["scrollBy of the window", tall(`window.scrollBy({ top: 1500, behavior: "smooth" })`), "scrollY", 1500],
  [
    "scrollTop with a style",
    tall("view.scrollTop = 900", "#view { scroll-behavior: smooth }"),
    "view.scrollTop",
    900,
  ],
  [
    "a link to a place on the page",
    tall("link.click()", "html { scroll-behavior: smooth }"),
    "end.getBoundingClientRect().bottom <= innerHeight + 1",
    true,
  ],
] as const;

const device = shared(() => openWebDevice());
const never = new AbortController().signal;
afterAll(() => site.close());
beforeEach(async () => {
  await device.run("load_storage_state", {});
  await usable();
});

async function usable(signal = never) {
  const found = await device.web.untilUsable?.(signal);
  if (!found) throw new Error("The controller cannot tell when its screen is usable.");
  return found;
}
const open = async (path: string) => {
  await device.run("navigate_to_url", { url: site.url(path) });
  return usable();
};
const clickGo = async () => {
  await device.run("click_element", { selector: "id=go" });
  return usable();
};
async function names(): Promise<string[]> {
  const { elements } = (await device.web.elements?.dump({ interactiveOnly: true }, never)) ?? {
    elements: [],
  };
  return elements.map(({ name }) => name);
}

describe("a screen is usable when what the action began has ended", () => {
  it.each(scriptMs)("a page that begins with a script of %i ms shows its elements", async (ms) => {
    for (let round = 0; round < 3; round++) {
      await open(`/pattern/script-${ms}`);
      expect((await clickGo()).goingOn).toEqual([]);
      expect(await names()).toContain("Only on the reached page");
    }
  });

  it("requests and timers in a chain are waited for", async () => {
    await open("/pattern/chain");
    expect((await clickGo()).goingOn).toEqual([]);
    expect(await names()).toContain("End of the chain");
  });

  it("a menu that animates in stands", async () => {
    await open("/pattern/menu");
    await clickGo();
    expect(await names()).toContain("Rename");
  });

  it("work in a frame is waited for", async () => {
    await open("/pattern/frame");
    await device.run("click_element", { selector: "Go" });
    await usable();
    expect(await names()).toContain("Inside");
  });

  it.each(smoothScrolls)("a smooth scroll by %s", async (_what, html, position, wanted) => {
    await device.run("navigate_to_url", { url: site.url("/pattern/endless") });
    await device.js(`document.body.innerHTML = ${JSON.stringify(html)}`);
    await usable();
    await device.run("click_element", { selector: "#go" });
    expect((await usable()).goingOn).toEqual([]);
    expect(await device.js(`return ${position}`)).toBe(wanted);
  });

  it("how long it watched is a whole number of milliseconds", async () => {
    await open("/pattern/endless");
    const { watchedMs } = await clickGo();
    expect(Number.isInteger(watchedMs)).toBe(true);
    expect(watchedMs).toBeGreaterThan(0);
    expect(await usable()).toEqual({ watchedMs: 0, goingOn: [] });
  });

  it("a second command meets the page that the first one opens", async () => {
    await open("/pattern/steps");
    await device.run("click_element", { selector: "id=go" });
    await device.run("click_element", { selector: "id=go" });
    await usable();
    expect(await device.js("return document.title")).toBe("Second step");
  });
});

describe("what still goes on is said", () => {
  it("a request, with its time", async () => {
    await open("/pattern/slow");
    expect((await clickGo()).goingOn).toEqual([expect.stringMatching(/^GET \/api\/20000 \(\d\.\d s\)$/)]);
  });

  it("a finite animation, by its element", async () => {
    await open("/pattern/spinner");
    expect((await clickGo()).goingOn).toEqual(["animation of <div.spinner>"]);
  });

  it("a page that does not come", async () => {
    await open("/pattern/hung");
    expect((await clickGo()).goingOn).toEqual(["loading of /api/20000"]);
  });

  it("not an endless animation, and not a poll of the page's own", async () => {
    await open("/pattern/endless");
    expect((await clickGo()).goingOn).toEqual([]);
    await open("/pattern/poll");
    await device.run("wait_for", { selector: "Go" });
    await device.js(
      "return new Promise((done) => { const see = () => polls > 5 ? done(0) : requestAnimationFrame(see); see(); })",
    );
    await usable();
    await device.js(
      "return new Promise((done) => { const from = polls, see = () => polls > from + 5 ? done(0) : requestAnimationFrame(see); see(); })",
    );
    expect((await clickGo()).goingOn).toEqual([]);
    expect(await names()).toContain("Answer");
  });

  it("a cancelled wait ends at once, and the next one works", async () => {
    await open("/pattern/slow");
    await device.run("click_element", { selector: "id=go" });
    const stop = new AbortController();
    const waiting = usable(stop.signal);
    stop.abort(new Error("cancelled"));
    await expect(waiting).rejects.toThrow("cancelled");
    expect((await usable()).goingOn).toContainEqual(expect.stringContaining("GET /api/20000"));
  });
});

describe("a letter that leads to another page: the next key meets the page that comes", () => {
  it.each(leading)("the page %s", (what) => pressThree(what));
  it.each(leadingUp)("%s hears the key go up", (who) => pressThree(who));
});

async function pressThree(name: string): Promise<void> {
  await device.run("navigate_to_url", { url: site.url(`/pattern/${encodeURIComponent(name)}`) });
  await device.run("click_element", { selector: "#go" });
  await device.run("press_key", { key: "a" });
  await device.run("press_key", { key: "b" });
  await device.run("press_key", { key: "c" });
  expect(await device.js("return document.querySelector('h1').textContent")).toBe("Next");
  expect(await device.js("return keys.textContent")).toBe("bc");
}

it("messages hold no fraction of a millisecond", async () => {
  await open("/pattern/endless");
  const missing = device.run("click_element", { selector: "Nowhere", timeout_ms: 120 });
  expect((await failureOf(missing)).message).toMatch(/ \d+ ms/);
  const replaced = device.run("drag_and_drop", { selector: "Go", to_selector: "Nowhere", timeout_ms: 150 });
  expect((await failureOf(replaced)).message).toMatch(/after \d+ ms/);
});

describe("the page does not see that it is watched", () => {
  it("timers look and work as the browser's own", async () => {
    await open("/pattern/endless");
    expect(
      await device.js(
        "return [String(setTimeout), setTimeout.name, setTimeout.length, String(clearTimeout)]",
      ),
    ).toEqual([
      "function setTimeout() { [native code] }",
      "setTimeout",
      1,
      "function clearTimeout() { [native code] }",
    ]);
    const given =
      "return new Promise((done) => setTimeout(function (...given) { done([this === window, given]); }, 1, 'a', 2))";
    expect(await device.js(given)).toEqual([true, ["a", 2]]);
    const cleared =
      "return new Promise((done) => { clearTimeout(setTimeout(() => done('late'), 1)); setTimeout(() => done('kept'), 30); })";
    expect(await device.js(cleared)).toBe("kept");
    expect(
      await device.js(
        "setTimeout('globalThis.ran = 1', 0); await new Promise((done) => setTimeout(done, 20)); return ran",
      ),
    ).toBe(1);
  });

  it("a test clock goes on working", async () => {
    const browser = await chromium.launch({ executablePath: findBrowser(), args: [...browserArgs] });
    try {
      const context = await browser.newContext();
      await installRest(context);
      const tab = await context.newPage();
      await tab.clock.install({ time: 0 });
      await tab.goto(site.url("/pattern/endless"));
      await tab.clock.pauseAt(1_000);
      await tab.evaluate("setTimeout(() => { document.title = 'fired' }, 300)");
      expect(await tab.title()).toBe("endless");
      await tab.clock.runFor(300);
      expect(await tab.title()).toBe("fired");
    } finally {
      await browser.close();
    }
  });
});
