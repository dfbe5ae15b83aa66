import type { BrowserContext, Page, Response } from "playwright-core";
import type { DeviceNotice } from "../contract.ts";
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
  context.on("response", (response) => noteLength(response, announced));
  context.on("download", (download) => {
    listener.downloads.receive(download, announced.get(download.url()));
  });
}

function noteLength(response: Response, announced: Map<string, number>): void {
  const headers = response.headers();
  const length = Number(headers["content-length"]);
  if (headers["content-disposition"] === undefined || !Number.isFinite(length)) return;
  if (announced.size >= ANNOUNCED_KEPT) announced.clear();
  announced.set(response.url(), length);
}
