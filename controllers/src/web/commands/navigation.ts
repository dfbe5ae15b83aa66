import type { Frame, Page, Response } from "playwright-core";
import { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import type { Action, Actions } from "../acting/action.ts";
import { ask } from "../acting/question.ts";
import { appUrl, isOfApp, wholeUrl } from "../page/address.ts";
import { documentShape, pageTimeoutShape } from "./elementCommand.ts";

export function navigationCommands(actions: Actions): Command[] {
  const { session } = actions;
  const history = (
    name: string,
    description: string,
    done: string,
    run: (action: Action) => Promise<Response | null>,
  ) =>
    defineCommand({
      name,
      description,
      effect: "write",
      input: z.strictObject({ ...documentShape, ...pageTimeoutShape }),
      run: ({ timeout_ms }, signal) => opening(actions, { command: name, done, timeout_ms, signal }, run),
    });
  return [
    defineCommand({
      name: "navigate_to_url",
      description: "Opens an address in the current tab and waits until its page is usable.",
      effect: "write",
      input: z.strictObject({
        url: z
          .string()
          .min(1)
          .max(10_000)
          .describe("Whole, relative to the current page, or a bare host name."),
        ...documentShape,
        ...pageTimeoutShape,
      }),
      run: (given, signal) =>
        opening(actions, { command: "navigate_to_url", done: "opened", ...given, signal }, (action) =>
          goTo(action, wholeUrl(given.url, action.page.url())),
        ),
    }),
    defineCommand({
      ...portable.open_app,
      input: portable.open_app.input.extend(documentShape),
      run: (given, signal) =>
        opening(actions, { command: "open_app", done: "opened the app", ...given, signal }, (action) =>
          goTo(action, appUrl(given.app)),
        ),
    }),
    defineCommand({
      ...portable.close_app,
      description: `${portable.close_app.description} Its tabs are closed; what it stored stays.`,
      async run({ app, timeout_ms: ms }, signal) {
        const address = appUrl(app);
        const tabs = session.pages().filter((page) => isOfApp(page.url(), address));
        await ask(session, { what: "close_app", ms, signal }, async () => {
          for (const tab of tabs) await session.closeTab(tab);
        });
        const count = tabs.length === 1 ? "one tab" : `${tabs.length} tabs`;
        const done = tabs.length === 0 ? "the app was not open" : `closed the app (${count})`;
        const url = session.page().url();
        return { message: `${done}; now at ${url}`, data: { url }, isNews: tabs.length === 0 };
      },
    }),
    history("go_back", "Goes to the previous page of the tab.", "went back", (action) =>
      moved(action, "back", action.page.goBack(action.pageLimits)),
    ),
    history("go_forward", "Goes to the next page of the tab.", "went forward", (action) =>
      moved(action, "forward", action.page.goForward(action.pageLimits)),
    ),
    history("reload", "Loads the current page again.", "reloaded", (action) =>
      action.page.reload(action.pageLimits),
    ),
  ];
}

function goTo({ session, page, pageLimits }: Action, url: string): Promise<Response | null> {
  session.context.allowUrl(url);
  return page.goto(url, pageLimits);
}

type Opening = { command: string; done: string; timeout_ms: number; signal: AbortSignal };

/** Like {@link Actions.run}, with the HTTP status of the document in the reply. */
async function opening(
  actions: Actions,
  { command, done, timeout_ms: timeoutMs, signal }: Opening,
  run: (action: Action) => Promise<Response | null>,
): Promise<CommandResult> {
  let response: Response | null = null;
  const { session } = actions;
  const { message } = await actions.run({ command, timeoutMs, signal, done }, async (action) => {
    const errorPage = watchErrorPage(action.page);
    try {
      response = await run(action);
    } catch (error) {
      if (hasErrorPage.test(String(error))) await endsWithin(errorPage.shown, errorPageMs);
      if (session.isAlive() && !action.page.isClosed()) await session.signals(action.page).stop();
      throw error;
    } finally {
      errorPage.close();
    }
  });
  const status = statusOf(response);
  const url = session.page().url();
  return { message, data: status === undefined ? { url } : { url, status } };
}

const errorPageMs = 1_000;
const hasErrorPage = /net::ERR_(?!ABORTED|BLOCKED)/;

/** Chromium shows its error page after it has reported the error: a navigation in between would be taken for interrupted by it. */
function watchErrorPage(page: Page) {
  let navigated = (_: Frame): void => undefined;
  const shown = new Promise<void>((resolve) => {
    navigated = (frame) => {
      if (frame === page.mainFrame() && frame.url().startsWith("chrome-error:")) resolve();
    };
  });
  page.on("framenavigated", navigated);
  return { shown, close: () => page.off("framenavigated", navigated) };
}

/** Playwright's answer is null both for an in-page step and for no step at all. */
async function moved(
  { session, page }: Action,
  direction: "back" | "forward",
  step: Promise<Response | null>,
): Promise<Response | null> {
  const before = session.signals(page).navigations();
  const response = await step;
  if (response === null && session.signals(page).navigations() === before) {
    throw new DeviceError("ACTION_REJECTED", `There is no page to go ${direction} to. Use navigate_to_url.`);
  }
  return response;
}

/** As a function, since TypeScript does not see that the action sets it. */
const statusOf = (response: Response | null): number | undefined => response?.status();
