import type { BrowserContext, Page, Request, Response } from "playwright-core";
import type { DeviceNotice } from "../../contract.ts";
import type { AnsweringDialogs } from "./dialogs.ts";
import type { ReceivingDownloads } from "./downloads.ts";

const ANNOUNCED_KEPT = 20;

export type ContextListener = {
  dialogs: AnsweringDialogs;
  downloads: ReceivingDownloads;
  notify(kind: DeviceNotice["kind"], text: string): void;
  opened(page: Page): void;
  crashed(page: Page): void;
};

/** Turns what happens in a context into notices, and answers its dialogs. */
export function listenToContext(context: BrowserContext, listener: ContextListener): void {
  const announced = new Map<string, number>();
  context.on("page", (page) => {
    page.on("crash", () => listener.crashed(page));
    listener.opened(page);
  });
  context.on("dialog", (dialog) => {
    // A dialog may be gone with its page before it is answered.
    listener.dialogs.answer(dialog).catch(() => undefined);
  });
  context.on("weberror", (error) => listener.notify("page_error", error.error().message));
  context.on("response", (response) => {
    noteLength(response, announced);
    if (response.status() >= 400 && isOfApp(response.request()))
      listener.notify("http_error", httpError(response.request(), `answered ${response.status()}`));
  });
  context.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // A page gives up its own requests when it is left, and a test may have switched the network off.
    if (/ABORTED|CANCELLED|DISCONNECTED|OFFLINE|BLOCKED/i.test(reason) || request.isNavigationRequest())
      return;
    if (isOfApp(request)) listener.notify("http_error", httpError(request, `failed: ${reason}`));
  });
  context.on("download", (download) => {
    listener.downloads.receive(download, announced.get(download.url()));
  });
}

/** The document of a tab, and what its scripts fetch from its own origin. */
function isOfApp(request: Request): boolean {
  try {
    const page = request.frame().page();
    if (request.isNavigationRequest()) return request.frame() === page.mainFrame();
    if (!["fetch", "xhr"].includes(request.resourceType())) return false;
    return new URL(request.url()).origin === new URL(request.frame().url()).origin;
  } catch {
    // The frame of a tab's first request is not known yet, and a worker's request has none.
    return request.isNavigationRequest();
  }
}

/** Without the query, which may hold anything. */
function httpError(request: Request, what: string): string {
  const kind = request.isNavigationRequest() ? "the page" : request.resourceType();
  return `HTTP_ERROR: ${request.method()} ${request.url().split(/[?#]/, 1)[0]} (${kind}) ${what}`;
}

function noteLength(response: Response, announced: Map<string, number>): void {
  const headers = response.headers();
  const length = Number(headers["content-length"]);
  if (headers["content-disposition"] === undefined || !Number.isFinite(length)) return;
  if (announced.size >= ANNOUNCED_KEPT) announced.clear();
  announced.set(response.url(), length);
}
