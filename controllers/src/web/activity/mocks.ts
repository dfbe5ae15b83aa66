import type { BrowserContext, Request, Route } from "playwright-core";
import type { z } from "zod";
import { firstMatch, type matchSchema } from "../../elements/match.ts";
import { pause } from "../../waiting/deadlines.ts";

export const MOST_MOCKS = 50;

/** Requests that a mock is for: its address, and its method in capitals if one is named. */
export type MockedRequests = { url: string; match: z.output<typeof matchSchema>; method: string | undefined };
export type MockAnswer = { status: number; headers: Record<string, string>; body: string };
export type Mock = MockedRequests & {
  answer?: MockAnswer;
  /** Why there is no answer, in Playwright's word. */
  fail?: string;
  delayMs: number;
  /** So many requests, then the server again. */
  times: number;
};
type Used = Mock & { used: number; ending: AbortController };

const everything = "**/*";

/**
 * What stands in for servers in one browser context. The newest mock that fits a request counts. A request that none fits goes on to
 * the guard of addresses, as if there were none. Ends with its context.
 */
export class Mocks {
  /** Requests that a mock answered, with the body, or failed: they say nothing about the app's servers. */
  readonly answered = new WeakMap<Request, string | undefined>();
  #mocks: Used[] = [];
  #isRouted = false;

  /** `mayAnswer` is false for a request whose answer would be code in the page; `refused` reports it. */
  constructor(
    private readonly context: BrowserContext,
    private readonly policy: { mayAnswer(request: Request): boolean; refused(request: Request): void },
  ) {
    context.once("close", () => this.#end(this.#mocks));
  }

  get count(): number {
    return this.#mocks.length;
  }

  /** Takes the place of an earlier mock for the same requests. */
  async add(mock: Mock): Promise<void> {
    this.#end(this.#mocks.filter((one) => isSame(one, mock)));
    this.#mocks = [{ ...mock, used: 0, ending: new AbortController() }, ...this.#mocks];
    await this.#route();
  }

  /** Ends the mock for these requests, or all. Returns how many ended, and how many requests they were used for. */
  async remove(requests: MockedRequests | undefined): Promise<{ ended: number; used: number }> {
    const ended = this.#mocks.filter((one) => requests === undefined || isSame(one, requests));
    this.#end(ended);
    await this.#route();
    return { ended: ended.length, used: ended.reduce((sum, { used }) => sum + used, 0) };
  }

  /** Requests that wait for one of these go on at once. */
  #end(ended: readonly Used[]): void {
    this.#mocks = this.#mocks.filter((one) => !ended.includes(one));
    for (const { ending } of ended) ending.abort();
  }

  /** While requests are routed, each one pauses in the browser and its cache is off: only as long as there is a mock. */
  async #route(): Promise<void> {
    const isNeeded = this.#mocks.length > 0;
    if (isNeeded === this.#isRouted) return;
    this.#isRouted = isNeeded;
    await (isNeeded
      ? this.context.route(everything, this.#handle)
      : this.context.unroute(everything, this.#handle));
  }

  readonly #handle = async (route: Route): Promise<void> => {
    // A request may be gone with its tab before it is answered. One that cannot be answered must not wait forever.
    await this.#answer(route).catch(() => route.abort().catch(() => undefined));
  };

  async #answer(route: Route): Promise<void> {
    const request = route.request();
    const mock = await this.#mockFor(request);
    if (mock === undefined) return route.fallback();
    const { answer, fail, delayMs, ending } = mock;
    if (answer && !this.policy.mayAnswer(request)) {
      mock.used--;
      this.policy.refused(request);
      return route.fallback();
    }
    if (delayMs > 0) await pause(delayMs, ending.signal).catch(() => undefined);
    // Never `continue`: the guard of addresses comes after.
    if ((!answer && fail === undefined) || ending.signal.aborted) return route.fallback();
    this.answered.set(request, answer?.body);
    return answer ? route.fulfill(answer) : route.abort(fail);
  }

  /** The mock for a request, which counts as used from here on. */
  async #mockFor(request: Request): Promise<Used | undefined> {
    const [url, method] = [request.url(), request.method()];
    for (const mock of this.#mocks) {
      if (mock.used >= mock.times || (mock.method !== undefined && mock.method !== method)) continue;
      // A pattern that takes too long on this address does not match it.
      if ((await firstMatch(mock.match, mock.url, [url]).catch(() => -1)) !== 0) continue;
      // Another request may have been the last one meanwhile.
      if (mock.used >= mock.times) continue;
      mock.used++;
      return mock;
    }
    return undefined;
  }
}

const isSame = (a: MockedRequests, b: MockedRequests): boolean =>
  a.url === b.url && a.match === b.match && a.method === b.method;

/** What scripts and elements only read. An answer to any other request, such as a document or a script, is code in the page. */
export const isData = (request: Request): boolean =>
  /^(fetch|xhr|eventsource|image|media|font|ping|beacon)$/.test(request.resourceType());
