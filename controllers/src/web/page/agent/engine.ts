import * as agent from "./agent.ts";
import { bounded } from "./agent.ts";
import type { PageQuery } from "./query.ts";
import type { HookNames } from "./tree/hooks.ts";
import { native } from "./tree/native.ts";
import { connect } from "./tree/world.ts";

export type InpageAgent = typeof agent;

/**
 * The agent of this document: one, however often this bundle is run. Only an own property counts, since an element with that id is
 * found under the name too.
 */
export function agentOf(names: HookNames): InpageAgent {
  const known: InpageAgent | undefined = Object.getOwnPropertyDescriptor(globalThis, "__labwright")?.value;
  if (known) return known;
  connect(names);
  Object.defineProperty(globalThis, "__labwright", { value: agent });
  return agent;
}

/** A question and its arguments. With `of: "element"` it is about the element that the selector is chained to. */
export type Asked = { of: "document" | "element"; method: string; args: readonly unknown[] };

/** The source of a function, which is called with the element that the selector is chained to and `given`. */
export type Run = { source: string; given: unknown };

/** The body of our selector: finds elements, answers a question, or gathers what another engine found. */
export type EngineBody =
  | PageQuery
  | { kind: "ask"; asked: Asked }
  | { kind: "run"; run: Run }
  | { kind: "gather"; token: number };

type Scope = Document | Element | ShadowRoot;

/**
 * Playwright's selector engine. It runs in Playwright's own world: in the page's world Playwright would need its script of 350 KB,
 * and the page could reach into it. The answer to a question is the text of an element outside of any document, so Playwright's
 * retries, frames and deadlines hold for questions too.
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
  // esbuild wraps functions in `__name` when it keeps names.
  const called: unknown = new Function("__name", `return (${source})`)((value: unknown) => value);
  return typeof called === "function" ? called(root, given) : undefined;
}

function answer(said: unknown): Element {
  const element = native.createElement("a");
  element.textContent = bounded(JSON.stringify(said ?? null));
  return element;
}
