import { type Check, passes } from "@labwright/controllers";
import { expect } from "@playwright/test";
import type { Page } from "playwright-core";
import { differences, type Row, rows, type Subject } from "./checkVerdictRows.ts";

/** One element for each subject that the rows name. */
const verdictPage = `<title>Shop</title>
  <h1 id=heading>Welcome</h1><p id=para>Plain words</p><p id=empty></p><p id=filled>x</p>
  <style>.gone{display:none}</style>
  <button id=go title=Pays aria-describedby=hint class="big red" style="color:rgb(255,0,0)">Go</button>
  <button id=stop>Stop</button><button id=off disabled>Off</button>
  <button id=goGone class="gone big red" title=Pays style="color:rgb(255,0,0)">Go</button>
  <button id=offGone class=gone disabled>Off</button><span id=hint>Pays</span>
  <button class=twin>Twin</button><button class=twin>Twin</button>
  <input type=checkbox id=yes checked aria-label=Yes><input type=checkbox id=no aria-label=No>
  <input type=checkbox id=yesGone class=gone checked><input type=checkbox id=noGone class=gone>
  <input type=checkbox id=half aria-label=Half><input type=checkbox id=halfGone class=gone>
  <input id=name value=Ada aria-label=Name><input id=other value=Eve aria-label=Other>
  <input id=nameGone class=gone value=Ada aria-label=Name>
  <input id=fixed readonly value=x aria-label=Fixed><input id=fixedGone class=gone readonly>
  <input id=must required value=x aria-label=Must><input id=mustGone class=gone required>
  <input id=bad aria-invalid=true aria-errormessage=oops aria-label=Bad><span id=oops>Too young</span>
  <input id=badGone class=gone aria-invalid=true aria-errormessage=oops>
  <div role=tablist><span role=tab id=one aria-selected=true>One</span><span role=tab id=two>Two</span>
    <span role=tab id=oneGone class=gone aria-selected=true>Three</span></div>
  <button id=bold aria-pressed=true>Bold</button><button id=thin aria-pressed=false>Thin</button>
  <button id=boldGone class=gone aria-pressed=true>Bold</button>
  <button id=menu aria-expanded=true>Menu</button><button id=shut aria-expanded=false>Shut</button>
  <button id=menuGone class=gone aria-expanded=true>Menu</button><button id=shutGone class=gone aria-expanded=false>Shut</button>
  <details id=more open><summary>More</summary>x</details><details id=less><summary>Less</summary>x</details>
  <details id=moreGone class=gone open><summary>More</summary></details>
  <details id=lessGone class=gone><summary>Less</summary></details>
  <nav><a href="#a" id=here aria-current=page>Here</a><a href="#b" id=away>Away</a>
    <a href="#c" id=hereGone class=gone aria-current=page>Here</a></nav>
  <div id=busy aria-busy=true>Busy</div><div id=idle>Idle</div><div id=busyGone class=gone aria-busy=true>Busy</div>
  <ul id=list><li class=item>Tea</li><li class=item>Bread</li></ul>
  <ul class=gone><li class=ghost>Tea</li><li class=ghost>Bread</li></ul>
  <table id=table><tr><th>Name<th>Price</tr><tr><td>Tea<td>3</tr></table>
  <table id=tableGone class=gone><tr><th>Name<th>Price</tr><tr><td>Tea<td>3</tr></table>
  <p id=five>5 items</p><p id=nine>9 items</p><p id=fiveGone class=gone>5 items</p>
  <div style="height:3000px"></div><p id=below>Below</p>`;

/** Everything that the rows about the page's past look for. */
export async function prepareVerdicts(page: Page): Promise<void> {
  await page.setContent(verdictPage);
  await page.evaluate(
    'for (const id of ["half", "halfGone"]) document.getElementById(id).indeterminate = true',
  );
  await page.focus("#name");
}

export type Verdict = {
  /** `element_checked hidden, negated`. */
  case: string;
  ours: boolean;
  /** Playwright's assertion passes, or what the row says where Playwright has none. */
  theirs: boolean;
  isInconclusive: boolean;
};

const signal = new AbortController().signal;
/** For a snapshot on a busy machine: the verdicts are what is compared, not their time. */
const unhurried = { ms: 60_000 };
/** Playwright polls for so long before an assertion fails. */
const patience = { timeout: 250 };

async function verdictOf(
  page: Page,
  check: Check,
  row: Row,
  { subject, negate }: { subject: Subject; negate: boolean },
): Promise<Verdict> {
  const params = { ...row.params, ...row.of[subject] };
  const input = check.input.parse(params);
  const reading = await check.read(input, signal, unhurried);
  const { selector = "css=html" } = params;
  const locator = page.locator(String(selector).replace(/^css=/, ""));
  const ask = (): Promise<void> | undefined =>
    row.page
      ? row.page(negate ? expect(page).not : expect(page), params, patience)
      : row.playwright?.(negate ? expect(locator).not : expect(locator), params, patience);
  const asked = ask();
  const theirs = asked
    ? await asked.then(
        () => true,
        () => false,
      )
    : (row.holds?.[subject]?.[negate ? 1 : 0] ?? false);
  return {
    case: `${nameOf(row)} ${subject}${negate ? ", negated" : ""}`,
    ours: passes(check, input, reading, negate),
    theirs,
    isInconclusive: reading.inconclusive !== undefined,
  };
}

export const nameOf = ({ check, params }: Row): string =>
  typeof params?.state === "string" ? `${check} ${params.state}` : check;

const subjectsOf = ({ of }: Row) => (Object.keys(of) as Subject[]).map((subject) => subject);

/** The verdict on every subject of every row, plain and negated. */
export async function verdictsOf(page: Page, checks: readonly Check[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const row of rows) {
    const check = checks.find(({ name }) => name === row.check);
    if (!check) throw new Error(`No check ${row.check}.`);
    const asked = subjectsOf(row).flatMap((subject) =>
      [false, true].map((negate) => verdictOf(page, check, row, { subject, negate })),
    );
    verdicts.push(...(await Promise.all(asked)));
  }
  return verdicts;
}

const disagreementsIn = (verdicts: readonly Verdict[]): Verdict[] =>
  verdicts.filter(({ ours, theirs }) => ours !== theirs);

/** Disagreements that have no reason, and reasons that no disagreement has. */
export function unexplained(verdicts: readonly Verdict[]): string[] {
  const found = disagreementsIn(verdicts);
  const lines = found
    .filter((one) => differences[one.case] === undefined)
    .map((one) => `${one.case}: here ${word(one.ours)}, there ${word(one.theirs)}`);
  const idle = Object.keys(differences).filter((key) => !found.some((one) => one.case === key));
  return [...lines, ...idle.map((key) => `${key}: no difference any more`)];
}

const word = (pass: boolean) => (pass ? "passes" : "does not pass");
