import type { BrowserContext, Page, Request, Response } from "playwright-core";
import type { Health } from "../../contract.ts";
import { unreachableReason } from "../page/failures.ts";
import type { UrlGuard } from "./urlGuard.ts";

/** Requests of more origins than this are not kept apart. */
const ORIGINS_KEPT = 200;

/** The last word of a server, or of the lack of one. `at` is the count of all such words. */
type Word = { at: number; url: string; from: string | undefined; failure: string | undefined };
/** The main document of a tab as its server answered, or why none did. */
export type Opened = {
  at: number;
  url: string;
  status?: number;
  failure?: string;
  challenge?: string | undefined;
};

/** What servers said last, by origin, and the main documents of tabs. */
export class Servers {
  count = 0;
  readonly #words = new Map<string, Word>();
  readonly #documents = new WeakMap<Page, Opened>();

  /** `mocked` are requests that no server saw. */
  listen(
    context: BrowserContext,
    guard: Pick<UrlGuard, "failureOf">,
    mocked: Pick<WeakMap<Request, unknown>, "has">,
  ): void {
    context.on("response", (response) => this.#answered(response, mocked.has(response.request())));
    context.on("requestfailed", (request) => {
      if (mocked.has(request)) return;
      this.#failed(request, guard.failureOf(request.url(), request.failure()?.errorText ?? ""));
    });
  }

  opened(page: Page, since: number): Opened | undefined {
    const opened = this.#documents.get(page);
    return opened && opened.at > since ? opened : undefined;
  }

  /** The last request since then to the page's own site that no server answered. */
  unreachable(page: Page, since: number): Health["unreachable"] {
    const missed = [...this.#words.values()].filter(({ at, failure }) => at > since && failure !== undefined);
    const opened = this.#documents.get(page);
    // A request of a document that the tab has left may still end.
    const isOfPage = ({ from }: Word) => from === undefined || originOf(from) === originOf(page.url());
    const own = missed.findLast(
      (word) => word.url === opened?.url || (isSameSite(word.url, page.url()) && isOfPage(word)),
    );
    const reason = own?.failure && unreachableReason(own.failure);
    return own && reason ? { url: own.url, reason } : undefined;
  }

  #answered(response: Response, isMocked: boolean): void {
    const status = response.status();
    const isRedirect = status >= 300 && status < 400;
    const challenge = status === 401 ? response.headers()["www-authenticate"]?.slice(0, 200) : undefined;
    const request = response.request();
    if (!isMocked) this.#heard(request, undefined);
    if (!isRedirect) this.#noteDocument(request, { status, challenge });
  }

  #failed(request: Request, failure: string): void {
    // A network that a test has switched off says nothing about the app; nor does a request that the page gave up.
    if (unreachableReason(failure) === undefined || /DISCONNECTED|OFFLINE/.test(failure)) return;
    this.#heard(request, failure);
    this.#noteDocument(request, { failure });
  }

  #heard(request: Request, failure: string | undefined): void {
    const [url, from] = [request.url(), request.headers().referer];
    if (this.#words.size >= ORIGINS_KEPT) this.#words.clear();
    this.#words.set(originOf(url), { at: ++this.count, url, from, failure });
  }

  #noteDocument(request: Request, document: Omit<Opened, "at" | "url">): void {
    const page = mainPageOf(request);
    if (page) this.#documents.set(page, { at: ++this.count, url: request.url(), ...document });
  }
}

/** The tab whose main document a request is for. */
function mainPageOf(request: Request): Page | undefined {
  if (!request.isNavigationRequest()) return undefined;
  try {
    const frame = request.frame();
    return frame.parentFrame() === null ? frame.page() : undefined;
  } catch {
    // The frame of a tab's very first request is not known yet.
    return undefined;
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

/** One host with any of its ports, or hosts below one domain: what serves an app, and not what it only embeds. */
function isSameSite(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const [one, other] = [new URL(a).hostname, new URL(b).hostname];
  if (one === other) return true;
  const domain = (host: string) => (/[a-z]$/i.test(host) ? host.split(".").slice(-2).join(".") : host);
  return domain(one).includes(".") && domain(one) === domain(other);
}
