import { prepareVerdicts, unexplained, verdictsOf } from "../controllers/web/checkVerdicts.ts";
import { launchBrowser, openSeeing } from "../controllers/web/seeingPage.ts";
import type { Measurement } from "./rows.ts";

/** Verdicts of every check beside Playwright's assertions, on one page. Counts the differences that have no listed reason. */
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
