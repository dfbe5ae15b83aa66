import type { Locator, Page } from "playwright-core";
import { prepareVerdicts, unexplained, verdictsOf } from "../controllers/web/checkVerdicts.ts";
import { launchBrowser, openSeeing, type SeeingPage } from "../controllers/web/seeingPage.ts";
import { fieldNames, replaced, widgets } from "../fixtures/hostilePages.ts";
import { sights } from "../fixtures/sights.ts";
import type { Measurement } from "./rows.ts";

type Case = { what: string; html: string; right: string };
type Suite = {
  name: string;
  cases: readonly Case[];
  ours(see: SeeingPage): Promise<string>;
  plain(page: Page): Promise<string>;
};

const signal = new AbortController().signal;

async function listed({ look }: SeeingPage): Promise<string> {
  const { elements } = await look.dump({ interactiveOnly: true }, signal);
  return elements.map(({ name }) => name).join(", ");
}

/** Those of the named locators that find one element. */
async function single(locators: Readonly<Record<string, Locator>>): Promise<string> {
  const found: string[] = [];
  for (const [name, locator] of Object.entries(locators)) if ((await locator.count()) === 1) found.push(name);
  return found.join(", ");
}

async function holds({ checks }: SeeingPage, name: string, input: Record<string, unknown>): Promise<boolean> {
  const reading = await checks.find((check) => check.name === name)?.read(input, signal);
  return reading?.holds === true;
}

const suites: readonly Suite[] = [
  {
    name: "pages that replace built-ins",
    cases: replaced.map((script) => ({
      what: script,
      html: `<!doctype html><head><script>${script}</script></head><body>${widgets}</body>`,
      right: "Save, Press, Inner",
    })),
    ours: listed,
    plain: (page) =>
      single({
        Save: page.getByRole("button", { name: "Save" }),
        Press: page.getByText("Press", { exact: true }),
        Inner: page.getByRole("button", { name: "Inner" }),
      }),
  },
  {
    name: "fields named like a property",
    cases: fieldNames.map((name) => ({
      what: name,
      html: `<!doctype html><form><label>Field <input name="${name}"></label><button>Send</button></form>`,
      right: "Field, Send",
    })),
    ours: listed,
    plain: (page) =>
      single({
        Field: page.getByRole("textbox", { name: "Field" }),
        Send: page.getByRole("button", { name: "Send" }),
      }),
  },
  {
    name: "visible and hidden",
    cases: sights.map(({ what, html, seen }) => ({
      what,
      html: `<!doctype html>${html}`,
      right: seen ? "seen" : "not seen",
    })),
    async ours(see) {
      const element = await holds(see, "element_visible", { selector: "#x" });
      const text = await holds(see, "text_visible", { text: "Secret sauce" });
      if (element !== text) return `element ${element}, text ${text}`;
      return element ? "seen" : "not seen";
    },
    plain: async (page) => ((await page.locator("#x").isVisible()) ? "seen" : "not seen"),
  },
];

/** Pages whose answer is known. The notes show each with our answer and that of plain Playwright. */
export async function measureReading(note: (line: string) => void): Promise<Measurement[]> {
  const browser = await launchBrowser();
  try {
    const see = await openSeeing(browser);
    const sum = { ours: 0, theirs: 0, runs: 0 };
    for (const suite of suites) {
      const { ours, theirs } = await rightAnswers(suite, see, note);
      const runs = suite.cases.length;
      note(`reading: ${suite.name}: ours ${ours} of ${runs}, Playwright ${theirs}`);
      Object.assign(sum, { ours: sum.ours + ours, theirs: sum.theirs + theirs, runs: sum.runs + runs });
    }
    const percent = (count: number) => (count / sum.runs) * 100;
    return [{ id: "reading.right", ours: percent(sum.ours), theirs: percent(sum.theirs), runs: sum.runs }];
  } finally {
    await browser.close();
  }
}

async function rightAnswers(
  { name, cases, ours, plain }: Suite,
  see: SeeingPage,
  note: (line: string) => void,
): Promise<{ ours: number; theirs: number }> {
  const right = { ours: 0, theirs: 0 };
  for (const { what, html, right: wanted } of cases) {
    // A document of its own, whose scripts run before it is read.
    await see.page.goto(`data:text/html;charset=utf-8,${encodeURIComponent(html)}`);
    const answers = {
      ours: await ours(see),
      theirs: await plain(see.page).catch((error) => String(error).split("\n", 1)[0]),
    };
    right.ours += Number(answers.ours === wanted);
    right.theirs += Number(answers.theirs === wanted);
    note(`reading: ${name}: ${what}: ${wanted}; ours ${answers.ours}; Playwright ${answers.theirs}`);
  }
  return right;
}

/** Counts the verdicts of checks that differ from Playwright's assertions without a listed reason. */
export async function measureChecks(note: (line: string) => void): Promise<Measurement[]> {
  const browser = await launchBrowser();
  try {
    const { page, checks } = await openSeeing(browser);
    await prepareVerdicts(page);
    const verdicts = await verdictsOf(page, checks);
    const open = unexplained(verdicts);
    for (const line of open) note(`checks.property: ${line}`);
    return [{ id: "checks.property", ours: open.length, runs: verdicts.length }];
  } finally {
    await browser.close();
  }
}
