import * as agent from "./agent.ts";
import type { PageQuery } from "./query.ts";
import type { HookNames } from "./tree/hooks.ts";
import { native } from "./tree/native.ts";
import { connect } from "./tree/world.ts";

export type InpageAgent = typeof agent;

declare global {
  var __labwright: InpageAgent | undefined;
}

/** The agent of this document: one, however often this bundle is run. */
export function agentOf(names: HookNames): InpageAgent {
  if (!globalThis.__labwright) connect(names);
  globalThis.__labwright ??= agent;
  return globalThis.__labwright;
}

/** What the agent answers at once, with its arguments; of `element`, the element that the selector is chained to. */
export type Asked = { of: "document" | "element"; method: string; args: readonly unknown[] };

/** A function as text, to be called with the element that the selector is chained to and with `given`. */
export type Run = { source: string; given: unknown };

/** The body of our selector: elements that a query means, the answer to a question, or what another engine found. */
export type EngineBody =
  | PageQuery
  | { kind: "ask"; asked: Asked }
  | { kind: "run"; run: Run }
  | { kind: "gather"; token: number };

type Scope = Document | Element | ShadowRoot;

/**
 * Playwright's selector engine, in its own world: that of the page would need its script of 350 KB there, and the page could
 * reach into it. A question is answered by an element that is in no document and has the answer as its text, so that
 * Playwright's own retries, frames and deadlines hold for questions, too.
 */
export function createEngine(names: HookNames) {
  const queryAll = (root: Scope, body: string): readonly Element[] => {
    const wanted: EngineBody = JSON.parse(decodeURIComponent(body));
    const asked = agentOf(names);
    if (wanted.kind === "ask") return [answer(ask(asked, root, wanted.asked))];
    if (wanted.kind === "run") return [answer(run(root, wanted.run))];
    if (wanted.kind !== "gather") return asked.below(root, wanted);
    if (!(root instanceof Element)) return [];
    asked.gather(root, wanted.token);
    return [root];
  };
  return { queryAll, query: (root: Scope, body: string) => queryAll(root, body)[0] };
}

function ask(own: InpageAgent, root: Scope, { of, method, args }: Asked): unknown {
  const given = of === "element" ? [root, ...args] : args;
  const called: unknown = Reflect.get(own, method);
  return typeof called === "function" ? Reflect.apply(called, undefined, given) : undefined;
}

function run(root: Scope, { source, given }: Run): unknown {
  // As Playwright runs what it is given. `__name` is what esbuild wraps functions in when it keeps names.
  const called: unknown = new Function("__name", `return (${source})`)((value: unknown) => value);
  return typeof called === "function" ? called(root, given) : undefined;
}

function answer(said: unknown): Element {
  const element = native.createElement("a");
  element.textContent = JSON.stringify(said ?? null);
  return element;
}
