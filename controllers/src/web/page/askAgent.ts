import type { ElementHandle, Frame, Locator } from "playwright-core";
import type { z } from "zod";
import { shortened } from "../../elements/quoted.ts";
import { DeviceError } from "../../errors.ts";
import { answers } from "./agent/answers.ts";
import type { InpageAgent } from "./agent/engine.ts";
import { answerTooLong } from "./failures.ts";
import { agentSource, engineSelector } from "./inpage.ts";
import { evaluateApart } from "./signals.ts";

type Method = keyof typeof answers;
/** Methods about one element, which is their first argument. */
type OfElement = "expectPresses" | "noteField" | "fillSecret" | "describeElement" | "framePlace" | "coverOf";

/** JSON has no undefined. */
type Sent<T> = T extends void ? null : T;
type Answer<M extends Method> = Sent<Awaited<ReturnType<InpageAgent[M]>>>;
type Rest<A extends unknown[]> = A extends [unknown, ...infer R] ? R : never;

/**
 * An answer of JSON that fits the schema. Throws ACTION_REJECTED for one that is too long, DEVICE_ERROR for one of another shape, which
 * the browser has made up.
 */
export function parseAnswer<S extends z.ZodType>(answer: string | null, schema: S): z.output<S> {
  const json = answer ?? "null";
  const length = json.startsWith("!") ? json.slice(1, 20) : json.length;
  if (Number(length) > longestAnswer) throw answerTooLong(`${length} characters`);
  const { data, error } = schema.safeParse(parsed(json));
  if (error === undefined) return data;
  const at = error.issues[0]?.path.join(".");
  throw strangeAnswer(at ? `its ${at} is not what it can be` : "it has another shape");
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const strangeAnswer = (why: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The browser gives an answer that Labwright's script in the page cannot give: ${shortened(why, 200)}. Open the page again, or use another browser.`,
  );

const schemas: { [M in Method]: z.ZodType<Answer<M>> } = answers;
const readAnswer = <M extends Method>(method: M, answer: string | null): Answer<M> =>
  parseAnswer<z.ZodType<Answer<M>>>(answer, schemas[method]);

/** Throws DEVICE_ERROR for refs that the agent of this frame cannot have given: such a ref would name another frame's element. */
export function expectOwnRefs(seen: readonly { ref?: string }[], prefix: string, next: number): void {
  const isOwn = (ref: string) => ref.startsWith(`${prefix}e`) && Number(ref.slice(prefix.length + 1)) < next;
  for (const { ref } of seen)
    if (ref !== undefined && !isOwn(ref)) throw strangeAnswer(`its ref ${ref} is not its own`);
}

/**
 * Asks the agent in a frame; undefined becomes null. The answer travels as JSON, since Playwright takes objects apart, checks them
 * and puts them together again, element by element.
 */
export async function askAgent<M extends Method>(
  frame: Frame,
  method: M,
  args: Parameters<InpageAgent[M]>,
): Promise<Answer<M>> {
  const quick = await askOverDevTools(frame, method, args);
  if (quick !== undefined) return quick;
  const selector = engineSelector({ kind: "ask", asked: { of: "document", method, args } });
  return readAnswer(method, await frame.locator(selector).textContent({ timeout: 0 }));
}

/** Asks the agent about the one element of a locator. */
export async function askElement<M extends OfElement>(
  locator: Locator,
  method: M,
  args: Rest<Parameters<InpageAgent[M]>>,
  options: { timeout: number; signal: AbortSignal },
): Promise<Answer<M>> {
  const selector = engineSelector({ kind: "ask", asked: { of: "element", method, args } });
  return readAnswer(method, await locator.locator(selector).textContent(options));
}

/**
 * Like `locator.evaluate`, out of reach of the page's scripts. The function travels as its source text, its answer as JSON;
 * undefined becomes null. Throws as `parseAnswer` does.
 */
export async function runApart<Given, S extends z.ZodType>(
  locator: Locator,
  schema: S,
  call: (element: Element, given: Given) => z.input<S>,
  given: Given,
  options: { timeout: number; signal: AbortSignal },
): Promise<z.output<S>> {
  const selector = engineSelector({ kind: "run", run: { source: String(call), given } });
  return parseAnswer(await locator.locator(selector).textContent(options), schema);
}

/** The same of an element that has no locator. */
export async function askHandle<M extends OfElement>(
  element: ElementHandle,
  method: M,
  args: Rest<Parameters<InpageAgent[M]>>,
): Promise<Answer<M> | undefined> {
  const answer = await element.$(engineSelector({ kind: "ask", asked: { of: "element", method, args } }));
  const text = await answer?.textContent();
  await answer?.dispose();
  return typeof text === "string" ? readAnswer(method, text) : undefined;
}

/** The same of the element that shows a child frame. */
export async function askFrameElement<M extends OfElement>(
  frame: Frame,
  method: M,
  args: Rest<Parameters<InpageAgent[M]>>,
): Promise<Answer<M> | undefined> {
  const element = await frame.frameElement();
  try {
    return await askHandle(element, method, args);
  } finally {
    await element.dispose();
  }
}

/**
 * Asks the agent over DevTools, in half the time of Playwright's way; its method may be asynchronous. Undefined if the frame is not
 * the page's own, or its document is not known yet.
 */
export async function askOverDevTools<M extends Method>(
  frame: Frame,
  method: M,
  args: Parameters<InpageAgent[M]>,
): Promise<Answer<M> | undefined> {
  const evaluate = evaluateApart(frame);
  if (!evaluate) return undefined;
  const asked = `agent.${method}(...${JSON.stringify(args)})`;
  const call = `(async (agent) => agent.bounded(JSON.stringify((await ${asked}) ?? null)))`;
  const isThere = "Object.hasOwn(globalThis, '__labwright')";
  const answer =
    (await evaluate(`${isThere} ? ${call}(globalThis.__labwright) : undefined`)) ??
    (await evaluate(`${call}(${agentSource})`));
  return typeof answer === "string" ? readAnswer(method, answer) : undefined;
}

/** In characters; longer ones are refused in the page already. */
const longestAnswer = 10_000_000;
