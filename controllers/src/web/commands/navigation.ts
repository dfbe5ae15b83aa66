import type { Page, Response } from "playwright-core";
import { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { type Acting, act } from "../acting/act.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { appUrl, isOfApp, wholeUrl } from "../page/address.ts";
import { documentShape, pageOptions, pageTimeoutShape } from "./elementCommand.ts";

/** Addresses, apps and the tab's history. */
export function navigationCommands(session: DrivenSession): Command[] {
  return [navigateToUrl(session), openApp(session), closeApp(session), ...historyCommands(session)];
}

function navigateToUrl(session: DrivenSession): Command {
  const input = z.strictObject({
    url: z.string().min(1).max(10_000).describe("Whole, relative to the current page, or a bare host name."),
    ...documentShape,
    ...pageTimeoutShape,
  });
  return defineCommand<typeof input>({
    name: "navigate_to_url",
    description: "Opens an address in the current tab and waits until its page is usable.",
    effect: "write",
    input,
    run: (given, signal) =>
      opening(session, "navigate_to_url", given.timeout_ms, signal, "opened", ({ page, ...acting }) => {
        const url = wholeUrl(given.url, page.url());
        session.context.allowUrl(url);
        return page.goto(url, pageOptions({ page, ...acting }));
      }),
  });
}

function openApp(session: DrivenSession): Command {
  return defineCommand({
    ...portable.open_app,
    input: portable.open_app.input.extend(documentShape),
    run: ({ app, timeout_ms }, signal) =>
      opening(session, "open_app", timeout_ms, signal, "opened the app", ({ page, ...acting }) => {
        const url = appUrl(app);
        session.context.allowUrl(url);
        return page.goto(url, pageOptions({ page, ...acting }));
      }),
  });
}

function closeApp(session: DrivenSession): Command {
  return defineCommand({
    ...portable.close_app,
    description: `${portable.close_app.description} Its tabs are closed; what it stored stays.`,
    async run({ app, timeout_ms }, signal) {
      const address = appUrl(app);
      const tabs = session.pages().filter((page) => isOfApp(page.url(), address));
      await ask(session, { what: "close_app", ms: timeout_ms, signal }, async () => {
        for (const tab of tabs) await session.closeTab(tab);
      });
      const done =
        tabs.length === 0
          ? "the app was not open"
          : `closed the app (${tabs.length === 1 ? "one tab" : `${tabs.length} tabs`})`;
      const url = session.page().url();
      return { message: `${done}; now at ${url}`, data: { url }, isNews: tabs.length === 0 };
    },
  });
}

function historyCommands(session: DrivenSession): Command[] {
  const input = z.strictObject({ ...documentShape, ...pageTimeoutShape });
  const command = (
    name: string,
    description: string,
    done: string,
    run: (acting: Acting) => Promise<Response | null>,
  ) =>
    defineCommand<typeof input>({
      name,
      description,
      effect: "write",
      input,
      run: (given, signal) => opening(session, name, given.timeout_ms, signal, done, run),
    });
  return [
    command("go_back", "Goes to the previous page of the tab.", "went back", (acting) =>
      moved(session, acting, "back", (page) => page.goBack(pageOptions(acting))),
    ),
    command("go_forward", "Goes to the next page of the tab.", "went forward", (acting) =>
      moved(session, acting, "forward", (page) => page.goForward(pageOptions(acting))),
    ),
    command("reload", "Loads the current page again.", "reloaded", (acting) =>
      acting.page.reload(pageOptions(acting)),
    ),
  ];
}

/** Like {@link act}, with the HTTP status of the document in the reply. */
async function opening(
  session: DrivenSession,
  command: string,
  timeoutMs: number,
  signal: AbortSignal,
  done: string,
  run: (acting: Acting) => Promise<Response | null>,
): Promise<CommandResult> {
  let response: Response | null = null;
  const result = await act(session, { command, timeoutMs, signal, done }, async (acting) => {
    response = await stoppingOnFailure(session, acting, run);
  });
  const status = statusOf(response);
  const url = session.page().url();
  return {
    message: result.message,
    data: status === undefined ? { url } : { url, status },
  };
}

async function stoppingOnFailure<T>(
  session: DrivenSession,
  acting: Acting,
  run: (acting: Acting) => Promise<T>,
): Promise<T> {
  try {
    return await run(acting);
  } catch (error) {
    if (session.isAlive() && !acting.page.isClosed()) await session.signals(acting.page).stop();
    throw error;
  }
}

/** Playwright's answer is null both for an in-page step and for no step at all. */
async function moved(
  session: DrivenSession,
  { page }: Acting,
  direction: "back" | "forward",
  step: (page: Page) => Promise<Response | null>,
): Promise<Response | null> {
  const before = session.signals(page).navigations();
  const response = await step(page);
  if (response === null && session.signals(page).navigations() === before) {
    throw new DeviceError("ACTION_REJECTED", `There is no page to go ${direction} to. Use navigate_to_url.`);
  }
  return response;
}

function statusOf(response: Response | null): number | undefined {
  return response?.status();
}
