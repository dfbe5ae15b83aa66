import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, CDPSession } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { nameDifferences } from "../controllers/web/accessibleNames.ts";
import { launchBrowser, openSeeing, type SeeingPage } from "../controllers/web/seeSession.ts";
import { tenth, widgets } from "./list.ts";
import { serveWidgets, type WidgetSite } from "./site.ts";

/** `WIDGETS=all` compares all of them. */
const isChosen = (name: string) => process.env.WIDGETS === "all" || tenth.includes(name);

let explained: Readonly<Record<string, readonly string[]>>;
let site: WidgetSite;
let browser: Browser;
let see: SeeingPage;
let cdp: CDPSession;
beforeAll(async () => {
  const table = await readFile(new URL("names.yaml", import.meta.url), "utf8");
  explained = z.record(z.string(), z.array(z.string())).parse(parse(table));
  site = await serveWidgets(dirname(fileURLToPath(new URL("..", import.meta.url))));
  browser = await launchBrowser();
  see = await openSeeing(browser);
  cdp = await see.page.context().newCDPSession(see.page);
  await cdp.send("Accessibility.enable");
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

it.each(
  widgets.filter(({ name }) => isChosen(name)),
)("names in $name are Chromium's accessible names, or the difference is explained", async ({ name }) => {
  await see.page.goto(site.url(name));
  const { lines, compared } = await nameDifferences(cdp, name);
  const known = Object.values(explained).flat();
  expect([...new Set(lines)].toSorted()).toEqual(
    known.filter((line) => line.startsWith(`${name}: `)).toSorted(),
  );
  expect(compared).toBeGreaterThan(0);
});
