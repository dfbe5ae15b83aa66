import { describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice());

/** Each page notes in its title which element a trusted click reached. */
const pages: [what: string, selector: string, html: string][] = [
  ["a plain button", "Go", "<button>Go</button>"],
  [
    "a button that slides for half a second",
    "Go",
    `<button style="position: absolute">Go</button><script>
       const begun = performance.now(), go = document.querySelector("button");
       (function slide() { const at = performance.now() - begun; go.style.left = Math.min(at, 500) + "px"; if (at < 500) requestAnimationFrame(slide); })();
     </script>`,
  ],
  ["a button below the fold", "Go", `<div style="height: 3000px"></div><button>Go</button>`],
  [
    "a link that is broken over two lines, with nothing of it in the middle",
    "Go",
    `<p style="width: 200px">Many words stand here <a href="#x" aria-label="Go">on the right and left</a> of it.</p>`,
  ],
  [
    "a button whose picture takes the click",
    "Go",
    `<button aria-label="Go"><svg width="40" height="40"><rect width="40" height="40"/></svg></button>`,
  ],
  [
    "a button in a shadow root",
    "Go",
    `<div id="host"></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<button>Go</button>"</script>`,
  ],
  [
    "a button that is covered for a while",
    "Go",
    `<button>Go</button><div id="veil" style="position: fixed; inset: 0"></div><script>setTimeout(() => veil.remove(), 400)</script>`,
  ],
  [
    "a button that is disabled for a while",
    "Go",
    `<button disabled>Go</button><script>setTimeout(() => { document.querySelector("button").disabled = false }, 400)</script>`,
  ],
  [
    "a button under a header that stays on top",
    "Go",
    `<div style="position: fixed; inset: 0 0 auto 0; height: 60px; background: white"></div><button style="margin-top: 5px">Go</button><div style="height: 3000px"></div>`,
  ],
];

const noting = `<script>addEventListener("click", (event) => {
  if (!event.isTrusted) return;
  const hit = event.composedPath().find((one) => one instanceof Element && one.matches("button, a"));
  document.title = "clicked " + (hit?.localName ?? "nothing");
}, true)</script>`;

describe("a click reaches its element", () => {
  it.each(pages)("%s", async (what, selector, html) => {
    await device.show(`${noting}${html}`);
    const click = device.run("click_element", { selector, timeout_ms: 3_000 });
    if (what.includes("header")) return expect(click).rejects.toThrow(/covered by <div/);
    await click;
    expect(await device.js("return document.title")).toMatch(/^clicked (button|a)$/);
  });
});

it("a page gets the same events on the short way as from Playwright's own click", async () => {
  const types = [
    "pointerover",
    "mousemove",
    "pointerdown",
    "mousedown",
    "focus",
    "pointerup",
    "mouseup",
    "click",
  ];
  const heard = async () => {
    await device.run("tap_x_y", { x: 300, y: 300 });
    await device.js("document.activeElement.blur(); globalThis.heard = []");
    await device.run("click_element", { selector: "Go" });
    return device.js("return globalThis.heard");
  };
  const noteAll = `<script>globalThis.heard = []; for (const type of ${JSON.stringify(types)}) addEventListener(type, (e) =>
    heard.push([type, e.isTrusted, e.target.localName, Math.round(e.clientX), Math.round(e.clientY), e.button, e.buttons, e.detail]), true)</script>`;
  await device.show(`${noteAll}<button>Go</button>`);
  const short = await heard();
  // A selector is looked for in every frame then, and Playwright clicks.
  await device.js(
    "const frame = document.createElement('iframe'); frame.style.position = 'fixed'; frame.style.top = '400px'; document.body.append(frame)",
  );
  const long = await heard();
  expect(short).toEqual(long);
  expect(short).toContainEqual(expect.arrayContaining(["click", true, "button"]));
});
