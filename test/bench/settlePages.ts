import { click, comesToRest, onClick, type Pattern, shownBy } from "./settlePattern.ts";

const link = (href: string): string => `<h1>Pattern</h1><a id="go" href="${href}">Go</a>`;
const reached = `<h1>Next page</h1><button>Arrived</button><div id="out"></div>`;

const toPage = (
  name: string,
  html: string,
  pages: Readonly<Record<string, string>> = { next: reached },
): Pattern => ({
  name,
  html,
  pages,
  action: click,
  outcome: /Arrived/,
  rests: true,
});

const path = (name: string, page = "next"): string => `/pattern/${encodeURIComponent(name)}/${page}`;

/** A page whose head has one script that comes after so many milliseconds. */
const headScripts = [0, 10, 25, 50].map((ms) =>
  toPage(`link to a page with a script of ${ms} ms`, link(path(`link to a page with a script of ${ms} ms`)), {
    next: `<!doctype html><html><head><title>Next</title><script src="/script/${ms}"></script></head><body>${reached}</body></html>`,
  }),
);

const scripts: Readonly<Record<string, string>> = {
  "route change by the history API": `history.pushState({}, "", "?view=2"); $("out").innerHTML = "<p>Loading</p>"; await get(160); show("View two");`,
  "route change that draws late": `history.pushState({}, "", "?view=3"); await import("/script/140"); await sleep(20); show("View three");`,
};

/** Documents, addresses, frames and windows. */
export const pagePatterns: readonly Pattern[] = [
  ...shownBy(scripts),
  ...headScripts,
  toPage("link", link(path("link"))),
  toPage("link to a slow page", link(`${path("link to a slow page")}?wait=500`)),
  toPage("link to a page with a late script", link(path("link to a page with a late script")), {
    next: `<h1>Next</h1><div id="out"></div><script>globalThis.loaded = () => show("Arrived");</script><script async src="/script/300"></script>`,
  }),
  toPage("link to a page that fetches its content", link(path("link to a page that fetches its content")), {
    next: `<h1>Next</h1><div id="out">Loading</div><script>get(250).then(() => show("Arrived"));</script>`,
  }),
  toPage("link to a page that starts on load", link(path("link to a page that starts on load")), {
    next: `<h1>Next</h1><div id="out"></div><script>addEventListener("load", () => setTimeout(() => show("Arrived"), 100));</script>`,
  }),
  toPage(
    "redirect by HTTP, twice",
    link(
      `/redirect?wait=60&to=${encodeURIComponent(`/redirect?wait=60&to=${encodeURIComponent(path("redirect by HTTP, twice"))}`)}`,
    ),
  ),
  toPage("redirect by meta", link(path("redirect by meta", "via")), {
    via: `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=${path("redirect by meta")}"><title>Via</title></head><body><p>Going on</p></body></html>`,
    next: reached,
  }),
  toPage("redirect by script", link(path("redirect by script", "via")), {
    via: `<h1>Via</h1><script>location.replace("${path("redirect by script")}")</script>`,
    next: reached,
  }),
  toPage("redirect by script after a fetch", link(path("redirect by script after a fetch", "via")), {
    via: `<h1>Via</h1><p>Signing in</p><script>get(150).then(() => location.replace("${path("redirect by script after a fetch")}"))</script>`,
    next: reached,
  }),
  toPage(
    "navigation by script after a fetch",
    onClick(`await get(150); location.href = "${path("navigation by script after a fetch")}";`),
  ),
  toPage(
    "navigation by script after a timer",
    onClick(
      `setTimeout(() => { location.href = "${path("navigation by script after a timer")}?wait=100"; }, 200);`,
    ),
  ),
  toPage(
    "form that is sent and redirected",
    `<h1>Pattern</h1><form method="post" action="/redirect?wait=100&to=${encodeURIComponent(path("form that is sent and redirected"))}"><input name="q" value="x"><button id="go">Go</button></form>`,
  ),
  comesToRest(
    "route change by the fragment",
    `<h1>Pattern</h1><a id="go" href="#second">Go</a><div id="out"></div><script>addEventListener("hashchange", async () => { await get(90); show("Second part"); });</script>`,
    /Second part/,
  ),
  {
    name: "frame that changes by itself",
    html: `<h1>Pattern</h1><iframe title="Inner" src="${path("frame that changes by itself", "inner")}"></iframe>`,
    pages: { inner: onClick(`await get(200); show("Inside");`) },
    action: click,
    outcome: /Inside/,
    place: "frame",
    rests: true,
  },
  {
    name: "frame that opens another page",
    html: `<h1>Pattern</h1><iframe title="Inner" src="${path("frame that opens another page", "inner")}"></iframe>`,
    pages: { inner: link(`${path("frame that opens another page")}?wait=200`), next: reached },
    action: click,
    outcome: /Arrived/,
    place: "frame",
    rests: true,
  },
  {
    name: "frame that is added",
    html: onClick(
      `const frame = document.createElement("iframe"); frame.title = "Added"; frame.src = "${path("frame that is added")}?wait=120"; $("out").append(frame);`,
    ),
    pages: { next: reached },
    action: click,
    outcome: /Arrived/,
    place: "frame",
    rests: true,
  },
  {
    name: "link in a new tab",
    html: `<h1>Pattern</h1><a id="go" target="_blank" href="${path("link in a new tab")}?wait=100">Go</a>`,
    pages: { next: reached },
    action: click,
    outcome: /Arrived/,
    place: "popup",
    rests: true,
  },
  {
    name: "window that fetches its content",
    html: onClick(`open("${path("window that fetches its content")}", "_blank", "width=500,height=400");`),
    pages: {
      next: `<h1>Window</h1><div id="out"></div><script>get(200).then(() => show("Arrived"));</script>`,
    },
    action: click,
    outcome: /Arrived/,
    place: "popup",
    rests: true,
  },
  {
    name: "window that opens after a fetch",
    html: onClick(`await get(150); open("${path("window that opens after a fetch")}");`),
    pages: { next: reached },
    action: click,
    outcome: /Arrived/,
    place: "popup",
    rests: true,
  },
];

const ticking = `await get(150); show("Answer meanwhile");`;
const restless = (name: string, rest: string, script = ticking): Pattern => ({
  name,
  html: onClick(script, rest),
  action: click,
  outcome: /Answer meanwhile/,
  rests: false,
});

/** Pages in which something goes on for ever. */
export const restlessPatterns: readonly Pattern[] = [
  restless("polling by interval", `<p id="at"></p><script>setInterval(() => get(20, "poll"), 100);</script>`),
  restless(
    "polling by timers",
    `<script>const poll = async () => { await get(20, "poll"); setTimeout(poll, 100); }; poll();</script>`,
  ),
  restless(
    "polling that begins with the click",
    "",
    `const poll = async () => { await get(30, "poll"); setTimeout(poll, 60); }; poll(); await get(150, "answer"); show("Answer meanwhile");`,
  ),
  restless(
    "request that is held open",
    `<script>const hold = () => fetch("/api/5000?hold").then(hold); hold();</script>`,
  ),
  restless(
    "WebSocket",
    `<p id="at"></p><script>new WebSocket("ws://" + location.host + "/socket").onmessage = (event) => { $("at").dataset.last = event.data; };</script>`,
  ),
  restless(
    "EventSource",
    `<p id="at">0</p><script>let n = 0; new EventSource("/events").onmessage = () => { $("at").dataset.last = ++n; };</script>`,
  ),
  restless("EventSource that the click opens", "", `new EventSource("/events"); ${ticking}`),
  restless(
    "beacons",
    `<script>setInterval(() => navigator.sendBeacon("/api/300?beacon", "x"), 50);</script>`,
  ),
  restless(
    "media that the click plays",
    `<video id="video" width="100" height="60"></video>`,
    `$("video").src = "/media"; $("video").play().catch(() => undefined); ${ticking}`,
  ),
  restless(
    "carousel by interval",
    `<ul><li id="slide">Slide 0</li></ul><script>let n = 0; setInterval(() => { $("slide").textContent = "Slide " + ++n; }, 150);</script>`,
  ),
  restless(
    "carousel by timers",
    `<ul><li id="slide">Slide 0</li></ul><script>let n = 0; const turn = () => { $("slide").textContent = "Slide " + ++n; setTimeout(turn, 200); }; setTimeout(turn, 200);</script>`,
  ),
  restless(
    "endless drawing in frames",
    `<div id="box">box</div><script>let n = 0; const draw = () => { $("box").style.transform = "translateX(" + (++n % 100) + "px)"; requestAnimationFrame(draw); }; draw();</script>`,
  ),
  restless(
    "endless animation",
    `<div id="box">box</div><style>@keyframes move { to { transform: translateX(100px) } } #box { animation: move 1s infinite alternate }</style>`,
  ),
  restless(
    "clock",
    `<p id="clock"></p><script>const tick = () => { $("clock").textContent = new Date().toISOString(); }; setInterval(tick, 30); tick();</script>`,
  ),
];
