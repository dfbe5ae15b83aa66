import { createServer } from "node:http";
import { chromium, type Page } from "playwright-core";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";
import { textCases } from "../fixtures/textCases.ts";
import type { Measurement } from "./rows.ts";
import { browserArgs, type Sides } from "./sides.ts";
import type { StdioServer } from "./stdioServer.ts";

/** What plain Playwright offers to find a text, without a pattern written by hand. */
const plain: Readonly<Record<string, (page: Page, text: string) => Promise<boolean>>> = {
  substring: async (page, text) => (await page.getByText(text).count()) > 0,
  exact: async (page, text) => (await page.getByText(text, { exact: true }).count()) > 0,
  contains: async (page, text) => {
    const fold = (one: string) => one.replace(/[\s\u200b\u00ad]+/g, " ").trim();
    return fold(await page.locator("body").innerText()).includes(fold(text));
  },
};

const escaped = (text: string): string => text.replace(/[&<]/g, (one) => (one === "&" ? "&amp;" : "&lt;"));

async function ours(server: StdioServer, url: string, text: string): Promise<boolean> {
  await server.call("execute_device_action", { actions: [{ command: "navigate_to_url", params: { url } }] });
  const checks = [{ command: "text_visible", params: { text }, timeout_ms: 1 }];
  const reply = await server.call("verify_device_state", { checks }, { mayFail: true });
  return !reply.isError && reply.structured?.pass === true;
}

/** One page for each case. */
async function serveCases(): Promise<{ url(at: number): string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const shown = textCases[Number(request.url?.slice(1))]?.[0] ?? "";
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!doctype html><p>${escaped(shown)}</p>`);
  });
  const port = await listenOnLoopback(server);
  return { url: (at) => `http://127.0.0.1:${port}/${at}`, close: () => closeServer(server) };
}

/** Every case of a text boundary on a page of its own: ours and plain Playwright's, each with the right answer next to it. */
export async function measureTexts(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  const site = await serveCases();
  const browser = await chromium.launch({ executablePath: sides.browser, args: [...browserArgs] });
  try {
    await server.initialize();
    const page = await browser.newPage();
    const right = new Map<string, number>();
    for (const [at, [shown, wanted, isThere]] of textCases.entries()) {
      await page.goto(site.url(at));
      const answers: Record<string, boolean> = { ours: await ours(server, site.url(at), wanted) };
      for (const [name, ask] of Object.entries(plain)) answers[name] = await ask(page, wanted);
      for (const [name, said] of Object.entries(answers))
        right.set(name, (right.get(name) ?? 0) + Number(said === isThere));
      note(`${JSON.stringify(shown)} has ${JSON.stringify(wanted)}: ${isThere}; ${JSON.stringify(answers)}`);
    }
    const percent = (name: string) => ((right.get(name) ?? 0) / textCases.length) * 100;
    const theirs = Math.max(...Object.keys(plain).map(percent));
    return [{ id: "texts.boundaries", ours: percent("ours"), theirs, runs: textCases.length }];
  } finally {
    await browser.close();
    await server.end();
    await sides.stopDaemon(dataDir);
    await site.close();
  }
}
