import { setTimeout as pause } from "node:timers/promises";
import { brotliDecompressSync } from "node:zlib";
import { packed } from "axe-core/axe.min.js?packed";
import type { Frame } from "playwright-core";
import { z } from "zod";
import { answers } from "./agent/answers.ts";
import { parseAnswer, runApart } from "./askAgent.ts";
import { agentSource } from "./inpage.ts";
import { evaluateApart } from "./signals.ts";

const impacts = ["minor", "moderate", "serious", "critical"] as const;

/** What axe-core looks for, and where. Empty lists of rules and tags mean all rules that it has on. */
export type AuditOptions = {
  rules: readonly string[];
  tags: readonly string[];
  /** CSS of the part to look at; the whole document without it. */
  within?: string | undefined;
  /** CSS of the parts to leave out. */
  exclude: readonly string[];
  testIdAttribute: string;
};

const finding = z.object({
  rule: z.string(),
  impact: z.enum(impacts),
  help: z.string(),
  /** How many elements break the rule; `elements` has the first of them. */
  count: z.int().nonnegative(),
  elements: z.array(
    z.object({
      seen: answers.describeElement,
      /** CSS by axe-core, of the shadow root that the element is in. */
      css: z.string(),
      /** What to change, as axe-core says it. */
      fix: z.string(),
    }),
  ),
});
export type Finding = z.output<typeof finding>;

/** `unsure`: the rules that only a person can judge here. */
const audited = z.object({
  violations: z.array(finding),
  unsure: z.array(z.string()),
  /** How many rules were applied, also those that nothing here is about. */
  rules: z.int().nonnegative(),
});
/** Names that axe-core does not know, with those that it knows. */
const unknown = z.object({ unknown: z.array(z.string()), known: z.array(z.string()) });
const failed = z.object({ failed: z.string() });
/** There is nothing of `within`. */
const nothing = z.object({ nothing: z.literal(true) });
const audit = z.union([audited, unknown, failed, nothing]);
export type Audit = z.output<typeof audit>;

/** A page's own frames may take this long to take the script in. */
const START_MS = 10_000;
const ASK_EVERY_MS = 50;

let source: string | undefined;

/**
 * Runs axe-core in one frame, in Playwright's isolated world and for this one question: the page cannot see it, and nothing of it
 * stays. It makes no request. Other frames are not looked into: each is asked by itself.
 */
export async function auditFrame(frame: Frame, options: AuditOptions, signal: AbortSignal): Promise<Audit> {
  source ??= brotliDecompressSync(Buffer.from(packed, "base64")).toString();
  const given = { ...options, isWhole: frame.parentFrame() === null };
  const expression = `(async () => {
    ${source}
    const { axe } = globalThis;
    delete globalThis.axe;
    const agent = Object.hasOwn(globalThis, "__labwright") ? globalThis.__labwright : ${agentSource};
    const __name = (value) => value;
    return agent.bounded(JSON.stringify(await (${String(runAxe)})(axe, agent, ${JSON.stringify(given)})));
  })()`;
  const evaluate = evaluateApart(frame);
  const answer = evaluate ? await evaluate(expression) : await startAndAsk(frame, expression, signal);
  return parseAnswer(typeof answer === "string" ? answer : null, audit);
}

let audits = 0;

/** For a frame whose isolated world is reached by Playwright alone, which waits for no promise there. */
async function startAndAsk(frame: Frame, expression: string, signal: AbortSignal): Promise<string | null> {
  const root = frame.locator(":root");
  // One of its own: each waiter listens to it, and a page may have many frames.
  const options = { timeout: START_MS, signal: AbortSignal.any([signal]) };
  // Several readings may run at once.
  const key = `__labwrightAudit${++audits}`;
  await runApart(root, z.null(), startAudit, { key, expression }, options);
  for (;;) {
    const answer = await runApart(root, z.string().nullable(), takeAudit, key, options);
    if (answer !== null) return answer;
    await pause(ASK_EVERY_MS, undefined, { signal });
  }
}

// What follows runs in the page.

function startAudit(_: Element, { key, expression }: { key: string; expression: string }): null {
  const place: { answer: string | null } = { answer: null };
  Object.defineProperty(globalThis, key, { value: place, configurable: true });
  const work: unknown = new Function(`return ${expression}`)();
  Promise.resolve(work).then(
    (answer) => {
      place.answer = String(answer);
    },
    (error: unknown) => {
      place.answer = JSON.stringify({ failed: String(error) });
    },
  );
  return null;
}

function takeAudit(_: Element, key: string): string | null {
  const place: { answer: string | null } | undefined = Reflect.get(globalThis, key);
  if (!place) return JSON.stringify({ failed: "the document was replaced" });
  if (place.answer !== null) Reflect.deleteProperty(globalThis, key);
  return place.answer;
}

type AxeNode = { element?: Element; target: unknown[]; failureSummary?: string };
type AxeResult = { id: string; impact?: string | null; help: string; nodes: AxeNode[] };
type AxeResults = Record<"violations" | "incomplete" | "passes" | "inapplicable", AxeResult[]>;
type Axe = {
  getRules(): { ruleId: string; tags: string[] }[];
  run(context: object, options: object): Promise<AxeResults>;
};
type Describer = { describeElement(element: Element, options: object): unknown };

async function runAxe(
  axe: Axe,
  agent: Describer,
  { rules, tags, within, exclude, testIdAttribute, isWhole }: AuditOptions & { isWhole: boolean },
): Promise<object> {
  const mostElements = 5;
  const known = axe.getRules();
  const names = { rules: known.map(({ ruleId }) => ruleId), tags: known.flatMap((rule) => rule.tags) };
  for (const [named, there] of [[rules, names.rules] as const, [tags, names.tags] as const]) {
    const strange = named.filter((name) => !there.includes(name));
    if (strange.length > 0) return { unknown: strange, known: [...new Set(there)].sort() };
  }
  // What a page needs once, and a frame of it need not have.
  const ofPage = ["aria-hidden-body", "bypass", "document-title", "html-has-lang", "landmark-one-main"];
  ofPage.push("meta-viewport", "meta-viewport-large", "page-has-heading-one", "region");
  const left = ["frame-tested", ...(isWhole ? [] : ofPage)];
  const asked = rules.filter((rule) => !left.includes(rule));
  if (rules.length > 0 && asked.length === 0) return { violations: [], unsure: [], rules: 0 };
  const included = within === undefined ? [document] : [...document.querySelectorAll(within)];
  if (included.length === 0) return { nothing: true };
  const excluded = exclude.flatMap((css) => [...document.querySelectorAll(css)]);
  const only =
    rules.length > 0 ? { type: "rule", values: asked } : tags.length > 0 && { type: "tag", values: tags };
  const found = await axe.run(
    { include: included, exclude: excluded, page: isWhole && within === undefined },
    {
      ...(only && { runOnly: only }),
      ...{ elementRef: true, iframes: false, preload: false },
      rules: Object.fromEntries(left.map((rule) => [rule, { enabled: false }])),
      resultTypes: ["violations"],
    },
  );
  const described = { limit: 1, selectors: true, testIdAttribute };
  const words = (text = "") => text.replace(/\s+/g, " ").trim().slice(0, 250);
  return {
    violations: found.violations.map(({ id, impact, help, nodes }) => ({
      ...{ rule: id, impact: impact ?? "minor", help, count: nodes.length },
      elements: nodes.slice(0, mostElements).map(({ element, target, failureSummary }) => ({
        seen: (element && agent.describeElement(element, described)) ?? null,
        css: String(target.flat().at(-1)).slice(0, 500),
        fix: words(failureSummary),
      })),
    })),
    unsure: found.incomplete.map(({ id }) => id),
    rules: Object.values(found).reduce((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0),
  };
}
