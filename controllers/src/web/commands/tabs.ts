import type { Page } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { wholeUrl } from "../page/address.ts";
import { documentShape, pageTimeoutShape } from "./elementCommand.ts";

const MOST_TABS = 50;
const CLOSE_MS = 5_000;
const tab = z
  .number()
  .int()
  .min(0)
  .max(MOST_TABS)
  .describe("Number of the tab as get_page_info lists it, from 0.");

/** Tabs and what is known of the page without looking at its elements. */
export function tabCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [openTab(actions), switchTab(actions), closeTab(session), getPageInfo(session)];
}

function openTab(actions: Actions): Command {
  const { session } = actions;
  const input = z.strictObject({
    url: z.string().min(1).max(10_000).optional(),
    ...documentShape,
    ...pageTimeoutShape,
  });
  return defineCommand<typeof input>({
    name: "open_tab",
    description: "Opens a new tab and makes it the current one.",
    effect: "write",
    input,
    async run({ url, timeout_ms }, signal) {
      const pages = session.pages();
      if (pages.length >= MOST_TABS) {
        throw new DeviceError(
          "ACTION_REJECTED",
          `There are ${pages.length} tabs already. Close some with close_tab.`,
        );
      }
      const whole =
        url === undefined
          ? undefined
          : wholeUrl(url, pages.length > 0 ? session.page().url() : "about:blank");
      if (whole !== undefined) session.context.allowUrl(whole);
      const page = await session.openTab();
      const index = session.pages().indexOf(page);
      const options = { command: "open_tab", timeoutMs: timeout_ms, signal, done: `opened tab ${index}` };
      const result = await actions.run(options, async (action) => {
        if (whole !== undefined) await page.goto(whole, action.pageLimits);
      });
      return { message: result.message, data: { tab: index, url: page.url() } };
    },
  });
}

function switchTab(actions: Actions): Command {
  const { session } = actions;
  const input = z.strictObject({ tab });
  return defineCommand<typeof input>({
    name: "switch_tab",
    description: "Makes another tab the current one.",
    effect: "write",
    input,
    run: ({ tab: index }, signal) =>
      actions
        .run({ command: "switch_tab", timeoutMs: 5_000, signal, done: `switched to tab ${index}` }, () =>
          session.select(tabAt(session, index)),
        )
        .then(({ message }) => ({
          message: `${message} at ${session.page().url()}`,
          data: { tab: index, url: session.page().url() },
        })),
  });
}

function closeTab(session: DrivenSession): Command {
  const input = z.strictObject({
    tab: tab.optional().describe("Number of the tab; the current one if absent."),
  });
  return defineCommand<typeof input>({
    name: "close_tab",
    description: "Closes a tab. When it was the last one, an empty tab takes its place.",
    effect: "write",
    input,
    async run({ tab: index }, signal) {
      const page = index === undefined ? session.page() : tabAt(session, index);
      await ask(session, { what: "close_tab", ms: CLOSE_MS, signal }, () => session.closeTab(page));
      const current = session.pages().indexOf(session.page());
      return {
        message: `closed the tab; now in tab ${current} at ${session.page().url()}`,
        data: { tab: current, url: session.page().url() },
      };
    },
  });
}

function getPageInfo(session: DrivenSession): Command {
  const input = z.strictObject({});
  return defineCommand<typeof input>({
    name: "get_page_info",
    description: "Address, title, loading state and viewport of the page, and the open tabs.",
    effect: "read",
    input,
    async run() {
      const page = session.page();
      const tabs = await Promise.all(
        session.pages().map((one, index) => describeTab(one, index, one === page)),
      );
      const current = tabs.find((one) => one.current);
      return {
        message: `${current?.title === "" ? "(no title)" : current?.title} at ${page.url()}, ${tabs.length === 1 ? "one tab" : `${tabs.length} tabs`}`,
        data: {
          url: page.url(),
          title: current?.title,
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
  const title = await page
    .locator("html")
    .evaluate((root) => root.ownerDocument.title, undefined, { timeout: TITLE_DEADLINE_MS })
    .catch(() => "");
  return { tab: index, url: page.url(), title: title.slice(0, 200), current };
}

function tabAt(session: DrivenSession, index: number): Page {
  const page = session.pages()[index];
  if (page !== undefined) return page;
  const urls = session.pages().map((one, at) => `${at}: ${one.url().slice(0, 100)}`);
  throw new DeviceError("TAB_NOT_FOUND", `There is no tab ${index}. The tabs are ${urls.join("; ")}.`, {
    tabs: urls,
  });
}
