import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import { htmlReport, type ReportEntry } from "#mcp-server/services/runs/reports/index.ts";
import { openReportBrowser, type ReportBrowser } from "./reportBrowser.ts";
import {
  because,
  ended,
  execution,
  failedEntry,
  head,
  historyOf,
  hostile,
  hostileEntry,
  passedEntry,
  redPicture,
  step,
} from "./samples.ts";

const red = ["artifact://aa", "artifact://bb"];
const pictures = new Map(red.map((uri) => [uri, redPicture]));

let browser: ReportBrowser;
beforeAll(async () => {
  browser = await openReportBrowser();
});
afterAll(() => browser.close());

const load = (...entries: ReportEntry[]) => browser.load(htmlReport(entries, head));
const find = (selector: string, options?: { hasText: string }) => browser.page.locator(selector, options);
const overflow = () => browser.page.evaluate("document.documentElement.scrollWidth - innerWidth");
const onPhone = () => browser.page.setViewportSize({ width: 390, height: 800 });
const onDesk = () => browser.page.setViewportSize({ width: 1280, height: 800 });

/** One of each verdict, in the order in which they ran. */
const night = (): ReportEntry[] => [
  ended("fine", {}),
  ended("moody", {
    flaky: true,
    attempts: [
      { id: "m.1", status: "failed", ...because("VERIFICATION_FAILED", "not yet"), duration_ms: 9 },
      { id: "m.2", status: "passed", duration_ms: 9 },
    ],
  }),
  ended("wrong", { status: "failed", ...because("VERIFICATION_FAILED", "It says 1.") }),
  ended("stopped", { status: "cancelled", ...because("CANCELLED") }),
  ended("late", { status: "timeout", ...because("EXECUTION_TIMEOUT") }),
  ended("broken", { status: "error", ...because("DEVICE_LOST") }),
  ended("also fine", {}),
];

describe("the page of a report", () => {
  it("shows verdict, expected, found, nearest, timings and pictures, and asks the network for nothing", async () => {
    expect(await load(failedEntry(pictures), passedEntry())).toEqual([]);
    const shown = (await find("body").innerText()).concat(await browser.page.content());
    for (const text of [
      "Counts what is left",
      "failed",
      "VERIFICATION_FAILED",
      'the screen shows "2 items left"',
      "1 item left",
      "Nearest",
      "3.2 s",
      "450 ms",
      "lab/browser",
      "staging",
      "1.4.0",
      "Add a todo",
    ])
      expect(shown).toContain(text);
    const first = find("details.test").first();
    await first.locator("details.step").first().locator("> summary").click();
    await first.getByText("Input").first().click();
    expect(await first.locator("pre").first().isVisible()).toBe(true);
  });

  it("puts what did not pass first, each with its reason, and counts each run once", async () => {
    await load(...night());
    const heads = find("details.test > summary");
    expect(await heads.locator("h3").allTextContents()).toEqual([
      ...["broken", "late", "wrong", "stopped", "moody", "fine", "also fine"],
    ]);
    expect(await heads.locator(".badge").allTextContents()).toEqual([
      ...["error", "timeout", "failed", "cancelled", "flaky", "passed", "passed"],
    ]);
    expect(await heads.locator(".reason").allTextContents()).toEqual([
      "DEVICE_LOST It ended.",
      "EXECUTION_TIMEOUT It ended.",
      "VERIFICATION_FAILED It says 1.",
      "CANCELLED It ended.",
      "It passed only when it was tried again. The first attempt: VERIFICATION_FAILED: not yet",
    ]);
    expect(await browser.page.title()).toContain(
      "7 runs: 2 passed, 1 failed, 2 errors, 1 flaky, 1 cancelled",
    );
    const counts = (await find(".count").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    expect(counts.slice(0, 6)).toEqual([
      ...["7 runs", "2 passed", "1 failed", "2 errors", "1 flaky", "1 cancelled"],
    ]);
  });

  it("shows the verdict and the name of every test on a phone, with nothing to scroll sideways", async () => {
    const long = ended("a name without a space ".repeat(4) + "x".repeat(200), {
      status: "failed",
      ...because("VERIFICATION_FAILED", "y".repeat(900)),
    });
    await onPhone();
    await load(failedEntry(pictures), hostileEntry(), long, nestedEntry(), ...night());
    expect(await overflow()).toBeLessThanOrEqual(0);
    const badges = await find("details.test > summary > .badge").all();
    expect(badges).toHaveLength(11);
    for (const badge of badges) {
      expect(await badge.isVisible()).toBe(true);
      const box = await badge.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
    }
    await browser.page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    expect(await overflow()).toBeLessThanOrEqual(0);
    const states = await find("details.step > summary > .badge").evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().right),
    );
    expect(Math.max(...states)).toBeLessThan(390);
    await onDesk();
    expect(await overflow()).toBeLessThanOrEqual(0);
  });

  it("is light or dark as the reader's screen is", async () => {
    await load(failedEntry());
    const background = () => browser.page.evaluate("getComputedStyle(document.body).backgroundColor");
    await browser.page.emulateMedia({ colorScheme: "light" });
    const light = await background();
    await browser.page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).not.toBe(light);
  });

  it("keeps a hostile page's text as text, in every field", async () => {
    const files = ["javascript:alert(1)", "/etc/passwd", "traces/a b.zip", "https://evil.test/a.webm"];
    const entry = hostileEntry();
    const session_url = "javascript:alert(1)";
    const run = { ...entry.execution, session_url };
    expect(await load({ ...entry, execution: run, group: hostile, files })).toEqual([]);
    expect(await find("[onerror], img, [src=x]").count()).toBe(0);
    expect(await find("script").count()).toBe(1);
    expect(await find("h3").innerText()).toContain('<script>alert("x")</script>');
    const links = await find("a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links.filter((link) => !link?.startsWith("#run-"))).toEqual(["traces/a%20b.zip"]);
    expect(await find("video").count()).toBe(0);
  });

  it("finds tests by status and words, opens and closes them, and leads to each failed one, by keyboard", async () => {
    await onDesk();
    expect(await load(...night(), failedEntry())).toEqual([]);
    const shown = () => find("details.test:visible > summary > h3").allTextContents();
    await find("select[name=word]").selectOption("failed");
    expect((await shown()).toSorted()).toEqual(["Counts what is left", "wrong"]);
    await browser.page.getByLabel("Name or reason").fill("it SAYS 1");
    expect(await shown()).toEqual(["wrong"]);
    expect(await find("output").innerText()).toBe("1 of 8 shown");
    await find("select[name=word]").selectOption("passed");
    expect(await shown()).toEqual([]);
    await browser.page.getByLabel("Name or reason").fill("fine3");
    expect(await shown()).toEqual([]);
    await browser.page.getByLabel("Name or reason").fill("");
    expect(await shown()).toEqual(["fine", "also fine"]);
    await browser.page.getByRole("button", { name: "Open all shown" }).press("Enter");
    expect(await find("details.test[open]:visible").count()).toBe(2);
    await find("select[name=word]").selectOption("");
    await browser.page.getByRole("button", { name: "Close all" }).press("Enter");
    expect(await find("details.test[open]").count()).toBe(0);
    await find("nav a", { hasText: "Counts what is left" }).press("Enter");
    await find("details.test[open]").getByText("Expected").first().waitFor();
    expect(await find("details.test[open] h3").innerText()).toBe("Counts what is left");
  });

  it("is whole where no script may run", async () => {
    const still = await openReportBrowser({ javaScriptEnabled: false });
    try {
      await still.load(htmlReport([...night(), failedEntry(pictures)], head));
      expect(await still.page.locator("form.find").isVisible()).toBe(false);
      await still.page.locator("nav a", { hasText: "Counts what is left" }).click();
      expect(await still.page.locator(".decision svg.shot").first().isVisible()).toBe(true);
    } finally {
      await still.close();
    }
  });

  it("draws the steps of a passed test of a large report when it is opened, as text, and is smaller for it", async () => {
    const passed = Array.from({ length: 300 }, (_, at) =>
      ended(`fine ${at}`, { build: hostile }, [step(0, { label: hostile, input: { name: hostile } })]),
    );
    const html = htmlReport([...passed, failedEntry(pictures)], head);
    expect(await browser.load(html)).toEqual([]);
    expect(await find(".decision svg.shot").first().isVisible()).toBe(true);
    expect(await find("details.step").count()).toBe(3);
    await find("h3", { hasText: "fine 7" }).first().click();
    const drawn = find("details.test[open]", { hasText: "fine 7" });
    await drawn.locator("details.step > summary").click();
    expect(await drawn.locator(".label").innerText()).toContain('<script>alert("x")</script>');
    expect(await drawn.locator("pre").innerText()).toContain("onerror");
    expect(await find("[onerror], img, [src=x]").count()).toBe(0);
    expect(await find("script").count()).toBe(1);
    expect(html.length).toBeLessThan(
      htmlReport([...passed.slice(1), failedEntry(pictures)], head).length / 2,
    );
  });

  it("shows what the app logged and requested in a failed step, open where something went wrong", async () => {
    const at = "2026-01-01T10:00:01.500Z";
    const [first, ...others] = failedEntry().steps.toReversed();
    const activity = {
      console: [
        { at, level: "exception", text: "basket is undefined", place: "http://shop/app.js:7" },
        { at, level: "log", text: "ready" },
      ],
      requests: [
        { at, method: "GET", url: "http://shop/logo.png", type: "image", status: 200, ms: 12 },
        { at, method: "POST", url: "http://shop/api", type: "fetch" },
      ],
    };
    await load({
      ...failedEntry(),
      steps: [...others.toReversed(), ...(first ? [{ ...first, activity }] : [])],
    });
    const folds = find(".decision details:has(> .log)");
    expect(await folds.locator("summary").allInnerTexts()).toEqual([
      expect.stringContaining("Console: 2, 1 errors"),
      expect.stringContaining("Requests: 2"),
    ]);
    expect(await folds.evaluateAll((all) => all.map((one) => one.hasAttribute("open")))).toEqual([
      true,
      false,
    ]);
    expect(await folds.first().innerText()).toMatch(
      /10:00:01.500\s+exception:\s+basket is undefined\s+http:\/\/shop\/app.js:7/,
    );
    expect(await folds.last().textContent()).toMatch(
      /200.*GET http:\/\/shop\/logo.png.*no answer yet.*POST http:\/\/shop\/api/,
    );
  });

  it("shows the earlier runs of a test as marks, oldest first and without links; of many tests, where one did not pass", async () => {
    const history = historyOf(3);
    await load({ ...failedEntry(), history }, passedEntry());
    const marks = browser.page.getByRole("list", { name: /^History/ }).getByRole("img");
    expect(await marks.allTextContents()).toEqual(["✓", "~", "✗"]);
    const last = "failed, 2025-12-31 09:00:00 UTC, 3.1 s";
    expect(await browser.page.getByRole("img", { name: last, exact: true }).count()).toBe(1);
    expect(await find(".strip").count()).toBe(1);
    expect(await find(".strip a").count()).toBe(0);
    const many = Array.from({ length: 300 }, (_, at) => ({ ...ended(`fine ${at}`, {}), history }));
    await load(...many, { ...failedEntry(), history });
    expect(await find(".strip").count()).toBe(1);
  });

  it("says that no test ran when none did", async () => {
    expect(await load()).toEqual([]);
    expect(await find("main").innerText()).toContain("No test ran");
    expect(await find(".count").count()).toBe(0);
  });

  it("traces requirements to runs, by requirement, and keeps a hostile one as text", async () => {
    const requirements = [
      { code: "REQ-002", name: "Second", coverage: "full" as const },
      { code: "REQ-001", name: "First", coverage: "partial" as const },
    ];
    const entries = [
      { ...failedEntry(), requirements },
      { ...passedEntry(), requirements: requirements.slice(1) },
      { ...hostileEntry(), requirements: [{ code: hostile, name: hostile, coverage: "full" as const }] },
    ];
    await onDesk();
    expect(await load(...entries)).toEqual([]);
    const rows = await find("table.matrix tbody tr").allInnerTexts();
    const failedId = failedEntry().execution.id;
    expect(rows.map((row) => row.split(/\s*\t\s*/)).slice(1)).toEqual([
      ["REQ-001 First", "Counts what is left", "partial", "failed", failedId],
      ["REQ-001 First", "Add a todo", "partial", "passed", execution().id],
      ["REQ-002 Second", "Counts what is left", "full", "failed", failedId],
    ]);
    expect(rows[0]).toContain('<script>alert("x")</script>');
    expect(await find("[onerror], img").count()).toBe(0);
    await onPhone();
    expect(await overflow()).toBeLessThanOrEqual(0);
    await load(passedEntry());
    expect(await find("table.matrix").count()).toBe(0);
  });
});

/** A called test case with a loop of two rounds in it; the second fails. In the order in which steps end. */
function nestedEntry(): ReportEntry {
  const path = (at: number, name: string, kind: string, more: Partial<Step> = {}) =>
    step(at, { path: name, kind, label: name, ...more });
  const failed = { status: "failed" as const, error: { code: "VERIFICATION_FAILED", message: "No." } };
  return ended("nested", { status: "failed", ...because("VERIFICATION_FAILED") }, [
    path(0, "go", "navigation", { label: "Home → Cart" }),
    path(1, "go", "navigation", { label: "Cart → Pay" }),
    path(2, "go", "navigation", { label: "go to Pay" }),
    path(3, "call/open", "action"),
    path(4, "call/loop[0]/look", "verification"),
    path(5, "call/loop[1]/look", "verification", failed),
    path(6, "call/loop", "loop", failed),
    path(7, "call", "call_testcase", failed),
  ]);
}

describe("steps in the page", () => {
  it("stand under the step that they are a part of, and fold; what failed stands open", async () => {
    await onDesk();
    await load(nestedEntry());
    const rows = [];
    for (const row of await find("details.step").all()) {
      const depth = await row.locator("xpath=ancestor::details[@class='step']").count();
      const label = row.locator("> summary .label");
      const text = await label.evaluate((element) => element.firstChild?.textContent?.trim());
      rows.push(`${"  ".repeat(depth)}${text}${(await label.isVisible()) ? "" : " (folded)"}`);
    }
    expect(rows).toEqual([
      "go to Pay",
      "  Home → Cart (folded)",
      "  Cart → Pay (folded)",
      "call",
      "  call/open",
      "  call/loop",
      "    round 1",
      "      call/loop[0]/look (folded)",
      "    round 2",
      "      call/loop[1]/look",
    ]);
    await find("details.step > summary").first().click();
    expect(await find("text=Home → Cart").isVisible()).toBe(true);
  });
});
