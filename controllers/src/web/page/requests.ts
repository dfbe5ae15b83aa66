import type { Page, Request } from "playwright-core";

/** Types of requests that stay open, or change no element. */
const unawaited = new Set([
  "websocket",
  "eventsource",
  "media",
  "ping",
  "beacon",
  "font",
  "manifest",
  "texttrack",
  "cspviolationreport",
  "prefetch",
]);
/** So many requests of one address without an action, or during one, are a poll. */
const POLL_WHILE_IDLE = 2;
const POLL_WHILE_ACTING = 4;
const MOST_NOTED = 500;

type Noted = { path: string; address: string; at: number };
export type OpenRequest = Noted & { method: string };

/** The requests of a tab and its frames. Times are those of `performance.now`. */
export type Requests = {
  /** Open requests that started since then, without polls. */
  open(since: number): readonly OpenRequest[];
  /** Counts requests between the end of the last action and the start of this one as the page's own. */
  learn(lastEnd: number, since: number): void;
  /** When the last request that sends data started, such as a POST; minus infinity before the first. */
  lastWrite(): number;
  /** Resolves when the next request ends. */
  ended(): Promise<void>;
};

export function watchRequests(page: Page): Requests {
  const open = new Map<Request, OpenRequest>();
  const polls = new Map<string, number>();
  let noted: Noted[] = [];
  let waiting: (() => void)[] = [];
  let lastWrite = Number.NEGATIVE_INFINITY;

  function end(request: Request) {
    open.delete(request);
    for (const resolve of waiting) resolve();
    waiting = [];
  }
  page.on("request", (request) => {
    if (!/^(GET|HEAD|OPTIONS)$/.test(request.method())) lastWrite = performance.now();
    if (unawaited.has(request.resourceType()) || isMainDocument(page, request)) return;
    const seen = { ...placeOf(request.url()), at: performance.now() };
    open.set(request, { ...seen, method: request.method() });
    noted.push(seen);
    if (noted.length > MOST_NOTED) noted.shift();
  });
  page.on("requestfinished", end);
  page.on("requestfailed", end);

  const isPoll = ({ path, address }: OpenRequest, since: number): boolean =>
    (polls.get(path) ?? 0) >= POLL_WHILE_IDLE ||
    noted.filter((one) => one.at >= since && one.address === address).length >= POLL_WHILE_ACTING;
  return {
    open: (since) => [...open.values()].filter((one) => one.at >= since && !isPoll(one, since)),
    learn(lastEnd, since) {
      for (const { path, at } of noted)
        if (at > lastEnd && at < since) polls.set(path, (polls.get(path) ?? 0) + 1);
      noted = noted.filter(({ at }) => at >= since);
    },
    lastWrite: () => lastWrite,
    ended: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

export function isMainDocument(page: Page, request: Request): boolean {
  if (!request.isNavigationRequest()) return false;
  try {
    return request.frame() === page.mainFrame();
  } catch {
    // The frame of a tab's first request is not known yet; it is the main one.
    return true;
  }
}

/** Addresses that differ only in a time stamp, which bypasses caches, count as one. */
function placeOf(url: string): { path: string; address: string } {
  const address = url.replace(/\d{10,}/g, "#").slice(0, 2_000);
  return { path: address.split(/[?#]/, 1)[0] ?? address, address };
}
