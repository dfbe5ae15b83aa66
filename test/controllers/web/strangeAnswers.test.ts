import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBrowser } from "@labwright/controllers";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { asking, childFrame, expectPatternsFind, expectSlowPatternEnds, ownFrame } from "./slowPattern.ts";
import { openWebDevice } from "./webDevice.ts";

const stderr = join(mkdtempSync(join(tmpdir(), "labwright-stderr-")), "stderr");

/** The browser, with its stderr in a file. */
function browserWithStderr(): string {
  const path = join(stderr, "../browser");
  const real = findBrowser({ headless: true })?.path ?? chromium.executablePath();
  writeFileSync(path, `#!/bin/sh\necho started > '${stderr}'\nexec '${real}' "$@" 2>> '${stderr}'\n`, {
    mode: 0o755,
  });
  return path;
}

const device = shared(() => openWebDevice({ settings: { executable_path: browserWithStderr() } }));
const never = new AbortController().signal;
const run =
  (command: string, params = {}) =>
  async () =>
    (await device.run(command, params)).message;
/** The most memory that this process has had since {@link forgetPeak}, in bytes. */
const peak = () => Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
function forgetPeak(): number {
  writeFileSync("/proc/self/clear_refs", "5");
  return peak();
}
const codeOf = (error: unknown) => String(Object(error).code);

/** What a page does in its scripts, what is asked of it, and what comes of that. */
const hostile: readonly [what: string, script: string, ask: () => Promise<unknown>, expected: unknown][] = [
  [
    "elements named like our own globals",
    `document.body.insertAdjacentHTML("beforeend", "<a id=__labwright></a><a id=__labwrightRest></a>")`,
    run("click_element", { selector: "Inner" }),
    "clicked Inner",
  ],
  [
    "a rest of 100 MB",
    `__labwrightRest.rest = () => ["x".repeat(1e8)]`,
    run("click_element", { selector: "Outer" }),
    "clicked Outer",
  ],
  [
    "a rest without end, length or shape",
    `__labwrightRest.rest = () => ({ length: 1 / 0, get 0() { throw 1 } }); Array.prototype.map = String = () => { throw 2 }`,
    run("click_element", { selector: "Outer" }),
    "clicked Outer",
  ],
  [
    "a scroll position of 100 MB",
    `Math.round = () => "y".repeat(1e8)`,
    run("scroll", { direction: "down" }),
    expect.stringMatching(/^scrolled down to 0, \d+/),
  ],
  [
    "a document of no size",
    `for (const name of ["scrollWidth", "scrollHeight"]) Object.defineProperty(Element.prototype, name, { get: () => NaN });
      Math.max = () => "9".repeat(1e8)`,
    async () => (await device.web.screen?.capture({ fullPage: true }, never))?.width,
    expect.any(Number),
  ],
  [
    "a title of 20 MB",
    `document.title = "t".repeat(2e7)`,
    run("get_page_info"),
    expect.stringMatching(/^t{200}… at /),
  ],
  [
    "a selection of 100 MB that is none",
    `document.getSelection = () => ({ toString: () => "s".repeat(1e8) })`,
    async () => (await device.check("selected_text", { text: "s", match: "contains" })).holds,
    false,
  ],
  [
    "a table whose cells span all others",
    `big.innerHTML = "<table id=t><tr><td colspan=1000 rowspan=65534>x</td></tr>" + "<tr><td>a</td></tr>".repeat(3_000) + "</table>"`,
    run("get_table", { selector: "#t" }),
    "ACTION_REJECTED",
  ],
  [
    "an attribute of 20 MB",
    `big.dataset.x = "s".repeat(2e7)`,
    run("get_attribute", { selector: "#big", attribute: "data-x" }),
    "ACTION_REJECTED",
  ],
  [
    "a line of 30 MB in its console",
    `console.log("l".repeat(3e7))`,
    run("click_element", { selector: "Outer" }),
    "clicked Outer",
  ],
  [
    "an error of 10 MB that nothing catches",
    `setTimeout(() => { throw new Error("e".repeat(1e7)) })`,
    () => device.noticed("page_error"),
    [expect.stringMatching(/^e{300,}…/)],
  ],
  [
    "a dialog of 10 MB",
    `setTimeout(() => alert("\\u00e9\\n\\"".repeat(3e6)))`,
    () => device.noticed("dialog"),
    [expect.stringMatching(/^alert "(é "){90,}…/)],
  ],
  ["40 MB for a script of the caller's", "", () => device.js(`return "j".repeat(4e7)`), "ACTION_REJECTED"],
];

it.each(
  hostile,
)("a page's answer is bounded and of the right shape: %s", async (_what, script, ask, expected) => {
  device.dropNotices();
  const before = forgetPeak();
  const inner = `<button>Inner</button><a id=__labwright></a><a id=__labwrightRest></a>`;
  await device.show(
    `<button>Outer</button><iframe srcdoc="${inner}"></iframe><div id=big style="height:3000px"></div><script>${script}</script>`,
  );
  expect(await ask().catch(codeOf)).toEqual(expected);
  expect(peak() - before).toBeLessThan(64_000_000);
});

it.each([
  ["of a click in the page's own frame", ownFrame, asking.click],
  ["of a wait in the page's own frame", ownFrame, asking.wait],
  ["of a check in a child frame", childFrame, asking.check],
  ["of a field in a child frame", childFrame, asking.fill],
])("a selector's pattern that takes too long ends, and its page answers meanwhile: %s", async (_, body, ask) => {
  await expectSlowPatternEnds(device, body, ask);
});

it.each([
  ["the page's own frame", String, ""],
  [
    "a child frame",
    (body: string) => `<iframe srcdoc='${body.replaceAll("'", "&#39;")}'></iframe>`,
    "; not read back, since the page that held it is gone",
  ],
])("a pattern finds, waits for, presses and fills what it matches: in %s", async (_, frame, note) => {
  await expectPatternsFind(device, frame, note);
});

it("nothing that a page logs comes to the browser's stderr, where 512 MB in a line would end us", async () => {
  await device.show(
    `<script>console.log("logged"); console.error("logged"); throw new Error("thrown")</script>`,
  );
  await device.run("wait_for", { url: "data:", timeout_ms: 1_000 }).catch(() => undefined);
  expect(readFileSync(stderr, "utf8")).toContain("started");
  expect(readFileSync(stderr, "utf8")).not.toMatch(/logged|thrown/);
});
