import type { Page, Response } from "playwright-core";
import { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { type Acting, act } from "../act.ts";
import type { DrivenSession } from "../session.ts";
import { documentShape, pageOptions, pageTimeoutShape } from "./elementCommand.ts";

/** Addresses and the tab's history. */
export function navigationCommands(session: DrivenSession): Command[] {
  return [navigateToUrl(session), ...historyCommands(session)];
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

/** What a person means by an address; throws INVALID_PARAMS. */
export function wholeUrl(given: string, current: string): string {
  const text = given.trim();
  if (/^([a-z][a-z0-9+.-]*:\/\/|(about|data|blob|javascript|file|chrome|view-source|devtools):)/i.test(text))
    return checked(text, given);
  if (/^[/?#.]/.test(text)) return checked(text, given, current);
  const local = /^(localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(:\d+)?([/?#]|$)/i.test(text);
  return checked(`${local ? "http" : "https"}://${text}`, given);
}

function checked(url: string, given: string, base?: string): string {
  if (URL.canParse(url, base)) return new URL(url, base).href;
  throw new DeviceError(
    "INVALID_PARAMS",
    `"${given.slice(0, 100)}" is no address. Give a whole one such as https://example.org/path.`,
  );
}
