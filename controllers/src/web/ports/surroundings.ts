import type { BrowserContext, Page, Request, Response } from "playwright-core";
import type { Check, Command, CommandResult, DocumentStatus, Health, HealthSource } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { lostBrowser, unreachable, unreachableReason } from "../page/failures.ts";
import { BlankPage } from "./blankPage.ts";

/** While a step lasts longer than this, the blank page is asked too. */
const WATCHED_AFTER_MS = 400;
const ASKED_EVERY_MS = 250;
/** Requests of more origins than this are not kept apart. */
const ORIGINS_KEPT = 200;

/** The last word of a server, or of the lack of one. `at` is the count of all such words. */
type Word = { at: number; url: string; from: string | undefined; failure: string | undefined };
/** The main document of a tab as its server answered, or why none did. */
type Opened = {
  at: number;
  url: string;
  status?: number;
  failure?: string;
  challenge?: string | undefined;
};

/** Notes which servers answer, and reports what was around a command or check that failed. */
export function createSurroundings(session: DrivenSession): {
  health: HealthSource;
  /** The command with the status of the main document that it led to; throws APP_UNREACHABLE where no server gave one. */
  answered(command: Command): Command;
  /** The check that throws DEVICE_LOST where the browser went away under it. */
  surviving(check: Check): Check;
} {
  const heard = new Servers();
  const blank = new BlankPage(() => session.browserContext().browser());
  session.onNewContext(async (context) => heard.listen(context));
  return {
    health: { watch: () => watch(session, heard, blank) },
    answered: (command) => ({
      ...command,
      async run(input, signal) {
        const since = heard.count;
        const openedSince = () =>
          session.isAlive() && session.pages().length > 0 ? heard.opened(session.page(), since) : undefined;
        const result = await command
          .run(input, signal)
          .catch((error: unknown) => ifAnswered(error, openedSince()) ?? ifLost(error, blank));
        const opened = openedSince();
        return opened ? withDocument(result, opened, input.expect_status) : result;
      },
    }),
    surviving: (check) => ({
      ...check,
      read: (input, signal, look) =>
        check.read(input, signal, look).catch((error: unknown) => ifLost(error, blank)),
    }),
  };
}

/** Chromium shows a page of its own for some answers, such as a 401 or an error without a body, and calls them a failure. */
function ifAnswered(error: unknown, opened: Opened | undefined): CommandResult | undefined {
  if (!(error instanceof DeviceError) || opened?.status === undefined) return undefined;
  const isAnswer = /^ERR_(INVALID_AUTH_CREDENTIALS|HTTP_RESPONSE_CODE_FAILURE)$/.test(
    String(error.details.reason),
  );
  const { url, status } = opened;
  return isAnswer ? { message: `the server answered ${status}`, data: { url, status } } : undefined;
}

/** A page that is gone may be the first sign of a browser that is gone; the browser itself says which. */
async function ifLost(error: unknown, blank: BlankPage): Promise<never> {
  const text = error instanceof Error ? error.message : "";
  const isGone = /has been closed|Target closed|crashed|went away/i.test(text);
  throw isGone && !(await blank.hasBrowser()) ? lostBrowser() : error;
}

function withDocument(
  result: CommandResult,
  { url, status, failure = "", challenge }: Opened,
  expected: unknown,
): CommandResult {
  if (status === undefined) {
    const reason = unreachableReason(failure);
    if (reason === undefined) return result;
    throw unreachable(
      `The action was done, but the page that it leads to, ${url}, was not reached`,
      reason,
      failure,
    );
  }
  const document: DocumentStatus = {
    url,
    status,
    ...(typeof expected === "number" && { expected }),
    ...(challenge !== undefined && { challenge }),
  };
  return { ...result, document };
}

/** What servers said last, by origin, and the main documents of tabs. */
class Servers {
  count = 0;
  readonly #words = new Map<string, Word>();
  readonly #documents = new WeakMap<Page, Opened>();

  listen(context: BrowserContext): void {
    context.on("response", (response) => this.#answered(response));
    context.on("requestfailed", (request) => this.#failed(request));
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

  #answered(response: Response): void {
    const status = response.status();
    const isRedirect = status >= 300 && status < 400;
    const challenge = status === 401 ? response.headers()["www-authenticate"]?.slice(0, 200) : undefined;
    this.#note(response.request(), undefined, isRedirect ? undefined : { status, challenge });
  }

  #failed(request: Request): void {
    const failure = request.failure()?.errorText ?? "";
    // A network that a test has switched off says nothing about the app; nor does a request that the page gave up.
    if (unreachableReason(failure) === undefined || /DISCONNECTED|OFFLINE/.test(failure)) return;
    this.#note(request, failure, { failure });
  }

  #note(
    request: Request,
    failure: string | undefined,
    document: Omit<Opened, "at" | "url"> | undefined,
  ): void {
    const [url, from] = [request.url(), request.headers().referer];
    if (this.#words.size >= ORIGINS_KEPT) this.#words.clear();
    this.#words.set(originOf(url), { at: ++this.count, url, from, failure });
    const page = mainPageOf(request);
    if (page && document) this.#documents.set(page, { at: ++this.count, url, ...document });
  }
}

function watch(session: DrivenSession, heard: Servers, blank: BlankPage): ReturnType<HealthSource["watch"]> {
  const since = heard.count;
  let longest = 0;
  let asking: { at: number; answer: Promise<void> } | undefined;
  const askBlank = (): Promise<void> => {
    asking ??= {
      at: performance.now(),
      answer: blank.timeToAnswer().then((ms = 0) => {
        longest = Math.max(longest, ms);
        asking = undefined;
      }),
    };
    return asking.answer;
  };
  let repeated: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    void askBlank();
    repeated = setInterval(() => void askBlank(), ASKED_EVERY_MS).unref();
  }, WATCHED_AFTER_MS).unref();
  return {
    async ask(patienceMs) {
      if (!session.isAlive() || session.pages().length === 0) return {};
      const page = session.page();
      await endsWithin(askBlank(), patienceMs);
      const waiting = asking ? performance.now() - asking.at : 0;
      const missing = heard.unreachable(page, since);
      return {
        blankMs: Math.round(Math.max(longest, waiting)),
        ...(missing && { unreachable: missing }),
      };
    },
    end() {
      clearTimeout(timer);
      clearInterval(repeated);
    },
  };
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
