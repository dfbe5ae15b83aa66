import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { findBrowser } from "@labwright/controllers";
import { type Browser, chromium, type Page } from "playwright-core";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import type { DaemonProcess } from "../fixtures/daemonProcess.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const views = [
  { width: 390, height: 844, colorScheme: "light" },
  { width: 1280, height: 800, colorScheme: "dark" },
] as const;
export type View = { width: number; height: number; colorScheme: "light" | "dark" };

/** What a page asked of others, and complained of. */
export type Seen = { page: Page; trouble: string[]; close(): Promise<void> };

export function startBrowser(): Promise<Browser> {
  const path = findBrowser({ headless: true })?.path;
  return chromium.launch({ ...(path && { executablePath: path }), args: ["--no-sandbox"] });
}

export async function openPage(
  browser: Browser,
  address: string,
  { colorScheme, ...viewport }: View = views[1],
): Promise<Seen> {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(address).origin && !request.url().startsWith("data:"))
      trouble.push(`asked for ${request.url()}`);
  });
  await page.goto(address);
  return { page, trouble, close: () => context.close() };
}

/** An address with a ticket, as of `labwright open --print`. */
export async function newAddress(daemon: Pick<DaemonProcess, "file">, to = "/devices"): Promise<string> {
  const answer = await fetch(daemonUrl(daemon.file(), "/page/tickets"), {
    method: "POST",
    headers: daemonHeaders(daemon.file(), "test"),
  });
  const { ticket } = z.object({ ticket: z.string() }).parse(await answer.json());
  return daemonUrl(daemon.file(), `/#${new URLSearchParams({ ticket, to })}`).href;
}

/** How far the page reaches over its right edge, in CSS pixels. */
export const widthOver = (page: Page): Promise<unknown> =>
  page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

export const isShown = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor({ timeout: 30_000 });

const resultSchema = z.object({
  passes: z.int().min(1),
  violations: z.array(z.string()),
});

/** What axe calls serious or critical, with the first element of each: all in a light page. A dark one differs only in its colours. */
export async function violationsOf(page: Page, colorScheme: View["colorScheme"]): Promise<string[]> {
  await page.evaluate(axe);
  const rules = colorScheme === "light" ? "" : 'runOnly: ["color-contrast"]';
  const found =
    await page.evaluate(`axe.run({ preload: false, resultTypes: ["violations"], ${rules} }).then(({ passes, violations }) => ({
    passes: passes.length,
    violations: violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 200) + " " + nodes[0].failureSummary),
  }))`);
  return resultSchema.parse(found).violations;
}
