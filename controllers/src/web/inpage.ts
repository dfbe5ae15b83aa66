import { randomBytes } from "node:crypto";
import type { BrowserContext, Frame } from "playwright-core";
import { pageWeights, Ranking } from "../elements/ranking.ts";
import { TextMatcher, tidy } from "../elements/text.ts";
import { InpageAgent } from "./inpageAgent.ts";
import { InpageApart } from "./inpageApart.ts";
import { InpageClicks } from "./inpageClicks.ts";
import { InpageDom } from "./inpageDom.ts";
import { InpageFacts } from "./inpageFacts.ts";
import { InpageFields } from "./inpageFields.ts";
import { InpageGroups } from "./inpageGroups.ts";
import { InpageNames } from "./inpageNames.ts";
import { InpageNear } from "./inpageNear.ts";
import { InpagePoint } from "./inpagePoint.ts";
import { InpageQuery, type PageQuery } from "./inpageQuery.ts";
import { InpageRecords } from "./inpageRecords.ts";
import { InpageRefs } from "./inpageRefs.ts";
import { InpageRoles } from "./inpageRoles.ts";
import { InpageSelectors } from "./inpageSelectors.ts";
import { InpageTables } from "./inpageTables.ts";
import { InpageWalk } from "./inpageWalk.ts";
import { InpageWords } from "./inpageWords.ts";
import { playwright } from "./playwright.ts";

declare global {
  var __labwright: InpageAgent | undefined;
}

/** Names that no page can know, so none hears them. */
const secret = randomBytes(8).toString("hex");
const events = { ask: `labwright-ask-${secret}`, found: `labwright-found-${secret}` };

// Classes travel as source text, so a bundler may rename them: each is bound to a name of ours. `__name` is what esbuild
// wraps functions in when it keeps names.
const agentSource = `
  if (globalThis.__labwright) return;
  const __name = (value) => value;
  const dom = new (${String(InpageDom)})(${String(tidy)});
  const texts = new (${String(TextMatcher)})((text) => dom.clean(text));
  const ranking = new (${String(Ranking)})(${JSON.stringify(pageWeights)});
  const roles = new (${String(InpageRoles)})();
  const words = new (${String(InpageWords)})(dom);
  const near = new (${String(InpageNear)})(dom, words);
  const names = new (${String(InpageNames)})(dom, roles, words, near);
  const clicks = new (${String(InpageClicks)})(dom, roles);
  const facts = new (${String(InpageFacts)})(dom, roles, words, near);
  const tables = new (${String(InpageTables)})(dom, words, near);
  const groups = new (${String(InpageGroups)})(near);
  const apart = new (${String(InpageApart)})(dom, near);
  const refs = new (${String(InpageRefs)})();
  const records = new (${String(InpageRecords)})(dom, roles, clicks, facts, refs);
  const walk = new (${String(InpageWalk)})(dom, roles, names, clicks, refs, records, tables, groups, apart);
  const query = new (${String(InpageQuery)})(dom, roles, names, clicks, refs, texts);
  const selectors = new (${String(InpageSelectors)})(dom, names, clicks, query, ranking);
  const fields = new (${String(InpageFields)})(dom, roles, names, clicks, query);
  const point = new (${String(InpagePoint)})(dom);
  const events = ${JSON.stringify(events)};
  const agent = new (${String(InpageAgent)})(dom, roles, names, clicks, refs, walk, query, selectors, fields, point, texts, events);
  Object.defineProperty(globalThis, "__labwright", { value: agent });
  clicks.watch();
  agent.listen();
`;

// Before any script of the page: some put classes of their own in place of the browser's.
const globals = new Set(agentSource.match(/\b(?!Inpage)[A-Z]\w+\b/g));
const source = `(() => {
  const { ${[...globals].join(", ")} } = globalThis;
  ${agentSource}
})()`;

// The engine runs in Playwright's own world: in the page's, Playwright would first put its 350 KB of script there, for each
// new document. The two worlds share nothing but the tree, so question and answer are events on its nodes.
const engine = `({
  query(root, body) { return this.queryAll(root, body)[0]; },
  queryAll(root, body) {
    const found = [];
    const hear = (event) => found.push(event.composedPath()[0]);
    addEventListener("${events.found}", hear, true);
    root.dispatchEvent(new CustomEvent("${events.ask}", { detail: body, composed: true }));
    removeEventListener("${events.found}", hear, true);
    return found;
  },
})`;

let registered: Promise<void> | undefined;

/**
 * Makes `labwright=` known to Playwright. To be awaited before a browser is opened: a context that begins while an engine
 * is being registered never gets it.
 */
export async function registerEngine(): Promise<void> {
  registered ??= playwright().selectors.register("labwright", engine, { contentScript: true });
  await registered;
}

/**
 * Has every new document of the context note its listeners. To be called on a new context before its first page: a page
 * that exists keeps the scripts that it started with.
 */
export async function installInpage(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: source });
}

/** For a document that began before the init script did, such as a tab found over CDP; its older listeners stay unknown. */
export async function ensureInpage(frame: Frame): Promise<void> {
  await frame.evaluate(source);
}

/** Selector for Playwright that finds what the agent finds. */
export function engineSelector(query: PageQuery): string {
  // Playwright reads quotes in a selector's body; `encodeURIComponent` leaves this one as it is.
  return `labwright=${encodeURIComponent(JSON.stringify(query)).replaceAll("'", "%27")}`;
}
