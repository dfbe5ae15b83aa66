import type { Page, Request } from "playwright-core";

/** Requests that go on by their nature, or that change no element. */
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
/** One address asked again and again while nobody acts is a poll; so is one that one action asks for so often. */
const POLL_WHILE_IDLE = 2;
const POLL_WHILE_ACTING = 4;
const MOST_NOTED = 500;

type Noted = { path: string; address: string; at: number };
export type OpenRequest = Noted & { method: string };

/** The requests of a tab and its frames. Times are those of `performance.now`. */
export type Requests = {
  /** Those that started since then and are to be waited for; polls are not. */
  open(since: number): readonly OpenRequest[];
  /** Notes what was asked between the end of the last action and the start of this one: the page asked that by itself. */
  learn(lastEnd: number, since: number): void;
  /** When the last request that sends something started, such as a POST; minus infinity before the first. */
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
    // The frame of a tab's very first request is not known yet; it is the main one.
    return true;
  }
}

/** A time stamp in an address, which keeps it out of caches, does not make it another one. */
function placeOf(url: string): { path: string; address: string } {
  const address = url.replace(/\d{10,}/g, "#").slice(0, 2_000);
  return { path: address.split(/[?#]/, 1)[0] ?? address, address };
}
