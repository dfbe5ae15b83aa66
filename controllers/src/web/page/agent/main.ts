import { pageWeights, Ranking } from "../../../elements/ranking.ts";
import { TextMatcher, tidy } from "../../../elements/text.ts";
import { InpageAgent } from "./agent.ts";
import { InpageFields } from "./fields.ts";
import { InpageApart } from "./look/apart.ts";
import { InpageGroups } from "./look/groups.ts";
import { InpagePassing } from "./look/passing.ts";
import { InpageRecords } from "./look/records.ts";
import { InpageRefs } from "./look/refs.ts";
import { InpageRows } from "./look/rows.ts";
import { InpageTables } from "./look/tables.ts";
import { InpageTexts } from "./look/texts.ts";
import { InpageWalk } from "./look/walk.ts";
import { InpageClicks } from "./names/clicks.ts";
import { InpageFacts } from "./names/facts.ts";
import { InpageNames } from "./names/names.ts";
import { InpageNear } from "./names/near.ts";
import { InpageRoles } from "./names/roles.ts";
import { InpageWords } from "./names/words.ts";
import { InpageQuery } from "./query.ts";
import { InpageSelectors } from "./selectors.ts";
import { InpageDom } from "./tree/dom.ts";
import type { HookNames } from "./tree/hooks.ts";
import { InpageLists } from "./tree/lists.ts";
import { InpagePoint } from "./tree/point.ts";
import { InpageReceiver } from "./tree/receiver.ts";
import { InpageUnread } from "./tree/unread.ts";
import { InpageWorld } from "./tree/world.ts";

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
