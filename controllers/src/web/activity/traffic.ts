import type { BrowserContext, Request, WebError } from "playwright-core";
import { shortened } from "../../elements/quoted.ts";

const REQUESTS_KEPT = 200;
const ERRORS_KEPT = 100;
/** Characters of all bodies that the kept requests sent. */
const SENT_KEPT = 20_000_000;
const LONGEST_ERROR = 2_000;

/** A request from its start on. `seq` counts up from 1 for as long as the context lives; `at` is in milliseconds since 1970. */
export type SeenRequest = {
  seq: number;
  at: number;
  request: Request;
  /** Milliseconds until it ended, well or badly; absent while it is under way. */
  ms?: number;
  /** Why there was no answer, as the browser or the proxy says. */
  failure?: string;
};

/** An exception that no script caught. `at` is in milliseconds since 1970. */
type ThrownError = { at: number; text: string; place: string };

type Kept = SeenRequest & { began: number; sent: number };

/** The last requests and uncaught exceptions of one browser context, closed tabs included, oldest first. */
export class Traffic {
  readonly #requests: Kept[] = [];
  readonly #errors: ThrownError[] = [];
  #seq = 0;
  #sent = 0;

  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  get errors(): readonly ThrownError[] {
    return this.#errors;
  }

  /** `failureOf` returns why a request really failed, by its address and the browser's error. */
  listen(context: BrowserContext, failureOf: (url: string, errorText: string) => string): void {
    context.on("request", (request) => this.#began(request));
    context.on("requestfinished", (request) => this.#ended(request));
    context.on("requestfailed", (request) =>
      this.#ended(request, failureOf(request.url(), request.failure()?.errorText ?? "")),
    );
    context.on("weberror", (error) => this.#thrown(error));
  }

  #began(request: Request): void {
    const sent = request.postDataBuffer()?.length ?? 0;
    this.#requests.push({ seq: ++this.#seq, at: Date.now(), request, began: performance.now(), sent });
    this.#sent += sent;
    while (this.#requests.length > REQUESTS_KEPT || (this.#sent > SENT_KEPT && this.#requests.length > 1))
      this.#sent -= this.#requests.shift()?.sent ?? 0;
  }

  #ended(request: Request, failure?: string): void {
    const seen = this.#requests.findLast((one) => one.request === request);
    if (seen === undefined) return;
    seen.ms = Math.round(performance.now() - seen.began);
    if (failure !== undefined) seen.failure = failure;
  }

  #thrown(thrown: WebError): void {
    const { message, stack = "" } = thrown.error();
    const text = shortened(message, LONGEST_ERROR);
    this.#errors.push({ at: Date.now(), text, place: placeIn(stack) });
    if (this.#errors.length > ERRORS_KEPT) this.#errors.shift();
  }
}

/** The first place in a stack of Chromium or Firefox, as address and line; empty if there is none. */
export const placeIn = (stack: string): string => /(https?:\/\/\S+?:\d+):\d+/.exec(stack)?.[1] ?? "";
