import type { Frame, Page } from "playwright-core";
import type { InpageAgent } from "./inpageAgent.ts";
import { devToolsOf } from "./signals.ts";

type Method = "clickPoint" | "fill" | "look";

/** An expression for the page; its value is what {@link readAnswer} reads. */
function agentCall<M extends Method>(method: M, args: Parameters<InpageAgent[M]>): string {
  const answer = `await __labwright.${method}(...${JSON.stringify(args)})`;
  return `globalThis.__labwright && (async () => JSON.stringify(${answer}))()`;
}

/** Only our own agent writes it, so its type needs no check. */
function readAnswer<M extends Method>(answer: unknown): Awaited<ReturnType<InpageAgent[M]>> | undefined {
  return typeof answer === "string" ? JSON.parse(answer) : undefined;
}

/**
 * What the agent in a frame answers, as JSON on its way: Playwright would take an object apart, check it and put it together
 * again, element by element. The page's own frame is asked over DevTools where the tab has a session, for a third of what
 * Playwright's way costs. Undefined when there is no agent in the document.
 */
export async function askAgent<M extends Method>(
  page: Page,
  frame: Frame,
  method: M,
  args: Parameters<InpageAgent[M]>,
): Promise<Awaited<ReturnType<InpageAgent[M]>> | undefined> {
  const call = agentCall(method, args);
  const cdp = frame === page.mainFrame() ? devToolsOf(page) : undefined;
  return readAnswer<M>(cdp ? await evaluate(cdp, call) : await frame.evaluate(call));
}

async function evaluate(
  cdp: NonNullable<ReturnType<typeof devToolsOf>>,
  expression: string,
): Promise<unknown> {
  const { result, exceptionDetails } = await cdp.send("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
