import { click, comesToRest, onClick, type Pattern, shownBy } from "./settlePattern.ts";

const fetches: Pattern[] = [50, 150, 300, 600, 1_000, 1_500].map((ms) => ({
  name: `fetch of ${ms} ms`,
  html: onClick(`await get(${ms}); show("Answer ${ms}");`),
  action: click,
  outcome: new RegExp(`Answer ${ms}\\b`),
  rests: true,
}));

const timers: Pattern[] = [0, 50, 120, 250, 450].map((ms) => ({
  name: `timer of ${ms} ms`,
  html: onClick(`setTimeout(() => show("Timer ${ms}"), ${ms});`),
  action: click,
  outcome: new RegExp(`Timer ${ms}\\b`),
  rests: true,
}));

const field = (script: string): string =>
  `<h1>Pattern</h1><input id="go" aria-label="Go"><div id="out"></div><script>${script}</script>`;

const scripts: Readonly<Record<string, string>> = {
  "change at once": `show("At once");`,
  "two fetches, one after the other": `await get(120, "a"); await get(180, "b"); show("Both answered");`,
  "four fetches, one after the other": `for (const n of [1, 2, 3, 4]) await get(80, n); show("Four answered");`,
  "fetches side by side": `await Promise.all([get(60, "a"), get(350, "b"), get(150, "c")]); show("All answered");`,
  "timer, then fetch": `await sleep(200); await get(200); show("Slept and asked");`,
  "fetch, then timer, then fetch": `await get(90); await sleep(150); await get(90); show("End of the chain");`,
  "chain of timers": `let left = 6; const step = () => { if (left-- > 0) setTimeout(step, 70); else show("Last step"); }; step();`,
  XMLHttpRequest: `const request = new XMLHttpRequest(); request.open("GET", "/api/220"); request.onload = () => show("Loaded by XHR"); request.send();`,
  "script added later": `globalThis.loaded = () => show("Script ran"); const script = document.createElement("script"); script.src = "/script/260"; document.body.append(script);`,
  "style sheet added later": `const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/style/180", onload: () => show("Styled") }); document.head.append(link);`,
  "picture shown when it has loaded": `const picture = new Image(); picture.onload = () => { picture.alt = "Large picture"; $("out").append(picture); show("Close the picture"); }; picture.src = "/picture/300";`,
  "button that is disabled while it works": `$("go").disabled = true; await get(320); $("go").disabled = false; show("Saved");`,
  "skeleton, then content": `$("out").innerHTML = "<p role=status>Loading</p>"; await get(420); $("out").innerHTML = ""; show("Content");`,
  "optimistic change, then the server's answer": `show("Liked"); await get(200); show("Likes: 12");`,
  "work in small tasks": `let left = 30; const channel = new MessageChannel(); channel.port1.onmessage = () => { if (left-- > 0) channel.port2.postMessage(0); else show("All tasks done"); }; channel.port2.postMessage(0);`,
  "work in frames": `let left = 12; const frame = () => { $("go").style.opacity = 1 - left / 20; if (left-- > 0) requestAnimationFrame(frame); else show("Drawn"); }; frame();`,
};

/** Requests and timers that an action starts, alone and in chains, and what a page does while they go on. */
export const workPatterns: readonly Pattern[] = [
  ...shownBy(scripts),
  ...fetches,
  ...timers,
  {
    name: "debounced search",
    html: field(
      `let timer; $("go").oninput = () => { clearTimeout(timer); timer = setTimeout(async () => { await get(120, "q=" + $("go").value); show("Result for " + $("go").value); }, 250); };`,
    ),
    action: { command: "input_text", params: { text: "ada" } },
    outcome: /Result for ada/,
    rests: true,
  },
  {
    name: "debounced search, typed key by key",
    html: field(
      `let timer; $("go").oninput = () => { clearTimeout(timer); timer = setTimeout(async () => { await get(100, "q=" + $("go").value); show("Found " + $("go").value); }, 200); };`,
    ),
    action: { command: "type_text", params: { text: "love" } },
    outcome: /Found love/,
    rests: true,
  },
  {
    name: "Enter sends a form by fetch",
    html: `<h1>Pattern</h1><form id="form"><input id="go" aria-label="Go" value="x"></form><div id="out"></div>
      <script>$("form").onsubmit = async (event) => { event.preventDefault(); await get(240); show("Sent"); };</script>`,
    action: { command: "press_key", params: { key: "Enter" } },
    outcome: /Sent/,
    rests: true,
  },
  {
    name: "choice that asks for what depends on it",
    html: `<h1>Pattern</h1><select id="go" aria-label="Go"><option>None</option><option>Spain</option></select><div id="out"></div>
      <script>$("go").onchange = async () => { await get(170); show("Madrid"); };</script>`,
    action: { command: "select_option", params: { option: "Spain" } },
    outcome: /Madrid/,
    rests: true,
  },
  comesToRest(
    "skeleton that pulses for ever, then content",
    onClick(
      `$("out").innerHTML = "<div class=pulse>Loading</div>"; await get(380); $("out").innerHTML = ""; show("Content");`,
      `<style>@keyframes pulse { to { opacity: 0.3 } } .pulse { animation: pulse 0.8s infinite alternate }</style>`,
    ),
    /Content/,
  ),
  comesToRest(
    "error message after a failed request",
    onClick(
      `const answer = await fetch("/missing?wait=150"); if (!answer.ok) $("out").innerHTML = "<p role=alert>Could not save</p>";`,
    ),
    /Could not save/,
  ),
  {
    name: "click that does nothing",
    html: onClick(""),
    action: click,
    outcome: /nothing changed/,
    until: "true",
    rests: true,
    changesNothing: true,
  },
];
