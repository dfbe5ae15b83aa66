import type { Page } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { sendInput } from "../../dispatch.ts";
import { shortened } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { wholeUrl } from "../page/address.ts";
import { runApart } from "../page/askAgent.ts";
import { documentShape, pageTimeoutShape } from "./elementCommand.ts";

const MOST_TABS = 50;
const SHORT_MS = 5_000;
const tab = z
  .number()
  .int()
  .min(0)
  .max(MOST_TABS)
  .describe("Number of the tab as get_page_info lists it, from 0.");

export function tabCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [openTab(actions), switchTab(actions), closeTab(session), getPageInfo(session)];
}

function openTab(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "open_tab",
    description: "Opens a new tab and makes it the current one.",
    effect: "write",
    input: z.strictObject({
      url: z.string().min(1).max(10_000).optional(),
      ...documentShape,
      ...pageTimeoutShape,
    }),
    async run({ url, timeout_ms: timeoutMs }, signal) {
      const { length } = session.pages();
      if (length >= MOST_TABS)
        throw new DeviceError(
          "ACTION_REJECTED",
          `There are ${length} tabs already. Close some with close_tab.`,
        );
      const whole = url && wholeUrl(url, length > 0 ? session.page().url() : "about:blank");
      if (whole) session.context.allowUrl(whole);
      const page = await sendInput(() => session.openTab());
      const tab = session.pages().indexOf(page);
      const options = { command: "open_tab", timeoutMs, signal, done: `opened tab ${tab}` };
      const { message } = await actions.run(options, async (action) => {
        if (whole) await page.goto(whole, action.pageLimits);
      });
      return { message, data: { tab, url: page.url() } };
    },
  });
}

function switchTab(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "switch_tab",
    description: "Makes another tab the current one.",
    effect: "write",
    input: z.strictObject({ tab }),
    async run({ tab: index }, signal) {
      const options = {
        command: "switch_tab",
        timeoutMs: SHORT_MS,
        signal,
        done: `switched to tab ${index}`,
      };
      const { message } = await actions.run(options, () => session.select(tabAt(session, index)));
      const url = session.page().url();
      return { message: `${message} at ${url}`, data: { tab: index, url } };
    },
  });
}

function closeTab(session: DrivenSession): Command {
  return defineCommand({
    name: "close_tab",
    description: "Closes a tab. When it was the last one, an empty tab takes its place.",
    effect: "write",
    input: z.strictObject({
      tab: tab.optional().describe("Number of the tab; the current one if absent."),
    }),
    async run({ tab: index }, signal) {
      const page = index === undefined ? session.page() : tabAt(session, index);
      await sendInput(() =>
        ask(session, { what: "close_tab", ms: SHORT_MS, signal }, () => session.closeTab(page)),
      );
      const data = { tab: session.pages().indexOf(session.page()), url: session.page().url() };
      return { message: `closed the tab; now in tab ${data.tab} at ${data.url}`, data };
    },
  });
}

function getPageInfo(session: DrivenSession): Command {
  return defineCommand({
    name: "get_page_info",
    description: "Address, title, loading state and viewport of the page, and the open tabs.",
    effect: "read",
    input: z.strictObject({}),
    async run() {
      const page = session.page();
      const tabs = await Promise.all(
        session.pages().map((one, index) => describeTab(one, index, one === page)),
      );
      const title = tabs.find(({ current }) => current)?.title;
      const url = page.url();
      return {
        message: `${title === "" ? "(no title)" : title} at ${url}, ${tabs.length === 1 ? "one tab" : `${tabs.length} tabs`}`,
        data: {
          url,
          title,
          loading: session.signals(page).isNavigating(),
          viewport: page.viewportSize(),
          tabs,
        },
      };
    },
  });
}

const TITLE_DEADLINE_MS = 2_000;

/** A busy tab gives no title; it must not hold up the others. */
async function describeTab(page: Page, index: number, current: boolean) {
  const options = { timeout: TITLE_DEADLINE_MS, signal: AbortSignal.timeout(TITLE_DEADLINE_MS) };
  const title = await runApart(page.locator("html"), z.string(), titleOf, undefined, options).catch(() => "");
  return { tab: index, url: page.url(), title: shortened(title, 200), current };
}

/** Runs in the page. */
const titleOf = (root: Element): string => root.ownerDocument.title.slice(0, 10_000);

function tabAt(session: DrivenSession, index: number): Page {
  const page = session.pages()[index];
  if (page !== undefined) return page;
  const urls = session.pages().map((one, at) => `${at}: ${shortened(one.url(), 100)}`);
  throw new DeviceError("TAB_NOT_FOUND", `There is no tab ${index}. The tabs are ${urls.join("; ")}.`, {
    tabs: urls,
  });
}
