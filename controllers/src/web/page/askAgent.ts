import type { ElementHandle, Frame, Locator } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import type { InpageAgent } from "./agent/engine.ts";
import { agentSource, engineSelector } from "./inpage.ts";
import { evaluateApart } from "./signals.ts";

type AnyMethod = (...args: never[]) => unknown;
type Method = { [M in keyof InpageAgent]: InpageAgent[M] extends AnyMethod ? M : never }[keyof InpageAgent];
/** Methods about one element, which is their first argument. */
type OfElement = "expectPresses" | "noteField" | "fillSecret" | "describeElement" | "framePlace" | "coverOf";

type Answer<M extends Method> = Awaited<ReturnType<InpageAgent[M]>>;
type Rest<A extends unknown[]> = A extends [unknown, ...infer R] ? R : never;

/**
 * The type needs no check: only our own code writes the answer, in a world that the page's scripts do not reach. Its size depends
 * on the page. Throws ACTION_REJECTED for an answer that is too long.
 */
function parseAnswer<T>(answer: string | null): T {
  if (answer?.startsWith("!") !== true) return JSON.parse(answer ?? "null");
  throw new DeviceError(
    "ACTION_REJECTED",
    `The page answers with ${answer.slice(1)} characters, which is too much to read. Name a smaller part of it.`,
  );
}
const readAnswer = <M extends Method>(answer: string | null) => parseAnswer<Answer<M>>(answer);

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
  return readAnswer<M>(await frame.locator(selector).textContent({ timeout: 0 }));
}

/** Asks the agent about the one element of a locator. */
export async function askElement<M extends OfElement>(
  locator: Locator,
  method: M,
  args: Rest<Parameters<InpageAgent[M]>>,
  options: { timeout: number; signal: AbortSignal },
): Promise<Answer<M>> {
  const selector = engineSelector({ kind: "ask", asked: { of: "element", method, args } });
  return readAnswer<M>(await locator.locator(selector).textContent(options));
}

/**
 * Like `locator.evaluate`, out of reach of the page's scripts. The function travels as its source text, its answer as JSON;
 * undefined becomes null.
 */
export async function runApart<Given, Answer>(
  locator: Locator,
  call: (element: Element, given: Given) => Answer,
  given: Given,
  options: { timeout: number; signal: AbortSignal },
): Promise<Answer> {
  const selector = engineSelector({ kind: "run", run: { source: String(call), given } });
  return parseAnswer<Answer>(await locator.locator(selector).textContent(options));
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
  return typeof text === "string" ? readAnswer<M>(text) : undefined;
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
  return typeof answer === "string" ? readAnswer<M>(answer) : undefined;
}
