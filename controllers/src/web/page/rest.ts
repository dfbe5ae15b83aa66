import type { BrowserContext, Frame, Page } from "playwright-core";
import type { RestTimes } from "./agent/rest.ts";
import { expression as restModule } from "./agent/rest.ts?script";
import { devToolsOf } from "./signals.ts";

/** Installs `agent/rest.ts` in every document. To be called on a new context before its first page. */
export async function installRest(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: `${restModule}.installRest()` });
}

/** Waits until a frame is at rest, at most `leftMs`. Returns what still goes on. */
export async function restOf(page: Page, frame: Frame, times: RestTimes): Promise<readonly string[]> {
  const expression = `(async () => {
    const said = await globalThis.__labwrightRest?.rest(${JSON.stringify(times)});
    ${firstLines}
  })()`;
  const cdp = frame === page.mainFrame() ? devToolsOf(page) : undefined;
  const answer: unknown = cdp
    ? (await cdp.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result
        .value
    : await frame.evaluate(expression);
  return typeof answer === "string" && answer !== "" ? answer.split("\n") : [];
}

/**
 * Puts at most 20 short lines of `said` into one text. The page can replace what answers, and the browser's functions: this calls
 * none of them.
 */
const firstLines = `let lines = "";
  for (let at = 0; at < 20 && at < said?.length; at++) {
    const line = \`\${said[at]}\`;
    if (line.length <= 300) lines += (lines && "\\n") + line;
  }
  return lines;`;
