import { pageWeights, Ranking } from "../elements/ranking.ts";
import { TextMatcher, tidy } from "../elements/text.ts";
import { InpageAgent } from "./inpageAgent.ts";
import { InpageApart } from "./inpageApart.ts";
import { InpageClicks } from "./inpageClicks.ts";
import { InpageDom } from "./inpageDom.ts";
import { InpageFacts } from "./inpageFacts.ts";
import { InpageFields } from "./inpageFields.ts";
import { InpageGroups } from "./inpageGroups.ts";
import type { HookNames } from "./inpageHooks.ts";
import { InpageLists } from "./inpageLists.ts";
import { InpageNames } from "./inpageNames.ts";
import { InpageNear } from "./inpageNear.ts";
import { InpagePassing } from "./inpagePassing.ts";
import { InpagePoint } from "./inpagePoint.ts";
import { InpageQuery } from "./inpageQuery.ts";
import { InpageReceiver } from "./inpageReceiver.ts";
import { InpageRecords } from "./inpageRecords.ts";
import { InpageRefs } from "./inpageRefs.ts";
import { InpageRoles } from "./inpageRoles.ts";
import { InpageRows } from "./inpageRows.ts";
import { InpageSelectors } from "./inpageSelectors.ts";
import { InpageTables } from "./inpageTables.ts";
import { InpageTexts } from "./inpageTexts.ts";
import { InpageUnread } from "./inpageUnread.ts";
import { InpageWalk } from "./inpageWalk.ts";
import { InpageWords } from "./inpageWords.ts";
import { InpageWorld } from "./inpageWorld.ts";

function createAgent(names: HookNames): InpageAgent {
  const dom = new InpageDom(tidy);
  const world = new InpageWorld(names);
  const texts = new TextMatcher((text) => dom.clean(text));
  const ranking = new Ranking(pageWeights);
  const roles = new InpageRoles();
  const words = new InpageWords(dom);
  const near = new InpageNear(dom, words);
  const elementNames = new InpageNames(dom, roles, words, near);
  const clicks = new InpageClicks(dom, roles, world);
  const facts = new InpageFacts(dom, roles, words, near);
  const tables = new InpageTables(dom, words, near);
  const groups = new InpageGroups(near);
  const apart = new InpageApart(dom, near);
  const refs = new InpageRefs();
  const records = new InpageRecords(dom, roles, clicks, facts, refs);
  const seenTexts = new InpageTexts(dom, new InpagePassing(dom));
  const walk = new InpageWalk(
    dom,
    roles,
    elementNames,
    clicks,
    refs,
    records,
    tables,
    new InpageRows(dom, tables, records),
    groups,
    apart,
    seenTexts,
  );
  const query = new InpageQuery(dom, roles, elementNames, clicks, refs, texts);
  const selectors = new InpageSelectors(dom, elementNames, clicks, query, ranking);
  const fields = new InpageFields(dom, roles, elementNames, clicks, query, world);
  const point = new InpagePoint(dom);
  return new InpageAgent({
    dom,
    world,
    roles,
    names: elementNames,
    clicks,
    refs,
    walk,
    apart,
    query,
    selectors,
    fields,
    point,
    receiver: new InpageReceiver(dom),
    unread: new InpageUnread(dom, world),
    lists: new InpageLists(dom),
    texts,
  });
}

/** The agent of this document: one, whichever way it is asked. */
export function agentOf(names: HookNames): InpageAgent {
  globalThis.__labwright ??= createAgent(names);
  return globalThis.__labwright;
}

declare global {
  var __labwright: InpageAgent | undefined;
}
