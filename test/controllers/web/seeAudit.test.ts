import { expect, it } from "vitest";
import { interactionDelay, largestPaint, layoutShift } from "#controllers/web/checks/vitals.ts";
import { watchPage } from "#controllers/web/page/signals.ts";
import { within } from "../../fixtures/daemon.ts";
import { openForTests } from "./seeSession.ts";

const see = openForTests();
const head = "<!doctype html><html lang=en><title>Shop</title>";
const image = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='400' height='300'/%3E";

it("violations are named with the elements that break the rule and what to change, also in frames and shadow roots", async () => {
  await see.page.setContent(`${head}<meta http-equiv=Content-Security-Policy content="script-src 'unsafe-inline'">
    <main><h1>Shop</h1>
    <button id=pay></button><div id=host></div>
    <iframe title=Ad srcdoc="${head}<img id=hero src=x width=50 height=50>"></iframe></main>
    <script>host.attachShadow({ mode: "open" }).innerHTML = "<input id=inner>"</script>`);
  await see.page.frames()[1]?.waitForSelector("#hero");
  const { holds, actual, expected } = await see.read("accessible", {});
  expect(expected).toBe("the page has no accessibility violation of impact serious or worse");
  expect(holds).toBe(false);
  // From here on over DevTools, as on a device.
  await watchPage(see.page, true).cdp();
  expect(await see.read("accessible", {})).toEqual({ holds, expected, actual });
  expect(actual).toMatch(/^3 rules are broken: /);
  expect(actual).toMatch(
    /button-name \(critical\): Buttons must have discernible text\. id=pay\. Fix any of/,
  );
  expect(actual).toMatch(/image-alt \(critical\): [^.]*\. id=hero\. Fix any of/);
  expect(actual).toMatch(/label \(critical\): [^.]*\. id=inner\./);
});

it("nothing of the checker stays in the page, which can neither see it nor change what it sees", async () => {
  await see.page.setContent(`${head}<main><h1>Shop</h1><img src=x width=50 height=50></main>
    <script>
      globalThis.seen = [];
      Object.defineProperty(globalThis, "axe", { configurable: true, set: () => seen.push("axe"), get: () => "own" });
      document.querySelectorAll = () => [];
      Element.prototype.matches = () => false;
      Array.prototype.filter = Array.prototype.map = () => [];
      JSON.stringify = () => "[]";
      Promise.prototype.then = () => {};
    </script>`);
  const before = await see.page.content();
  expect(await see.read("accessible", {})).toMatchObject({ holds: false });
  expect(await see.page.content()).toBe(before);
  expect(
    await see.page.evaluate("[seen, axe, Object.keys(globalThis).filter((name) => /audit/i.test(name))]"),
  ).toEqual([[], "own", []]);
});

it("a page without violations passes; the impact, rules, tags and parts say what counts", async () => {
  await see.page.setContent(`${head}<main><h1>Shop</h1><p>Tea</p></main>
    <p id=ad style="color:#ccc">Sale</p><p>Outside of all landmarks</p>`);
  expect(await see.read("accessible", { exclude: ["#ad"] })).toMatchObject({
    holds: true,
    actual: expect.stringMatching(/^none; of less impact: region/),
  });
  const fails = (input: object) => see.read("accessible", input).then(({ holds }) => !holds);
  expect(await fails({})).toBe(true);
  expect(await fails({ impact: "critical" })).toBe(false);
  expect(await fails({ impact: "moderate", exclude: ["#ad"] })).toBe(true);
  expect(await fails({ ignore: ["color-contrast"] })).toBe(false);
  expect(await fails({ within: "main" })).toBe(false);
  expect(await fails({ rules: ["color-contrast"] })).toBe(true);
  expect(await fails({ tags: ["wcag2a"] })).toBe(false);
  expect(await see.read("accessible", { within: "#none" })).toMatchObject({
    holds: false,
    missing: "absent",
  });
  await expect(see.read("accessible", { rules: ["colour-contrast"] })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringContaining("The nearest: color-contrast"),
  });
  await expect(see.read("accessible", { tags: ["wcag9"] })).rejects.toMatchObject({ code: "INVALID_PARAMS" });
});

it("a page whose frames do not all answer is not called accessible", async () => {
  await see.page.setContent(
    `${head}<main><h1>Shop</h1>${`<iframe title=x srcdoc="x"></iframe>`.repeat(31)}</main>`,
  );
  expect(await see.read("accessible", { rules: ["image-alt"] })).toMatchObject({
    holds: false,
    inconclusive: expect.stringContaining("did not answer"),
  });
});

it("vitals are those that the browser measured; without an interaction there is no INP", async () => {
  await see.page.goto(
    `data:text/html,${encodeURIComponent(`${head}<h1 id=top>Shop</h1><button>Go</button><img src="${image}">`)}`,
  );
  const unknown = await see.read("page_vitals", { max_inp_ms: 200 });
  expect(unknown).toMatchObject({ holds: false, inconclusive: expect.stringContaining("INP unknown") });
  await see.page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => { document.querySelector('h1').style.marginTop = '300px'; requestAnimationFrame(() => setTimeout(done, 100)); }))",
  );
  await expect
    .poll(() => see.read("page_vitals", { max_lcp_ms: 600_000, max_cls: 0 }), within)
    .toMatchObject({ holds: false, actual: expect.stringMatching(/^LCP \d+ ms, CLS 0\.\d+$/) });
  expect(await see.read("page_vitals", { max_lcp_ms: 600_000, max_cls: 1 })).toMatchObject({ holds: true });
  await see.page.evaluate(
    "document.querySelector('button').onclick = () => { const end = Date.now() + 300; while (Date.now() < end); }",
  );
  await see.page.click("button");
  await see.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await expect
    .poll(() => see.read("page_vitals", { max_inp_ms: 200 }), within)
    .toMatchObject({
      holds: false,
      actual: expect.stringMatching(/^INP [3-9]\d\d ms$|^INP \d{4,} ms$/),
    });
});

it("a burst of shifts ends after a second without one or after five, and one slow interaction of fifty does not count", () => {
  const shift = (startTime: number, value: number, hadRecentInput = false) => ({
    startTime,
    value,
    hadRecentInput,
  });
  const none = { activationStart: 0 };
  expect(layoutShift({ ...none, shifts: [shift(0, 0.1), shift(900, 0.1), shift(2_000, 0.15)] })).toEqual({
    value: 0.2,
  });
  expect(layoutShift({ ...none, shifts: [shift(0, 0.5, true)] })).toEqual({ value: 0 });
  const long = Array.from({ length: 10 }, (_, at) => shift(at * 900, 1));
  expect(layoutShift({ ...none, shifts: long })).toEqual({ value: 6 });
  const events = [700, 200].map((duration, at) => ({ duration, interactionId: at + 1 }));
  expect(interactionDelay({ ...none, events, interactions: 2 })).toEqual({ value: 700 });
  expect(interactionDelay({ ...none, events, interactions: 60 })).toEqual({ value: 200 });
  expect(interactionDelay({ ...none, events, interactions: 200 })).toEqual({ value: 104, atMost: true });
  expect(largestPaint({ activationStart: 500, paints: [{ startTime: 900, url: "" }] })).toEqual({
    value: 400,
  });
  expect(largestPaint(none)).toMatchObject({ unknown: expect.stringContaining("does not report") });
});
