import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Document, isMap, parseDocument } from "yaml";
import { z } from "zod";
import { builtInFactories } from "../../config/controllers.ts";
import { findProject, projectFiles } from "../../config/places.ts";
import { fileNameOf, shortForm } from "../../services/apps/files/index.ts";
import { verbsOf } from "../../services/apps/steps/index.ts";
import { stepOf } from "../folder/journal.ts";
import { contentOf } from "../project/content.ts";
import { filesOfApps } from "../project/files.ts";
import type { Terminal } from "../terminal.ts";
import { type Check, checkText, type RecordedStep, type Report } from "./report.ts";

type WrittenStep = Record<string, unknown>;

const verbs = verbsOf(builtInFactories);

/** Steps in words where there are words for them. */
const inWords = (steps: readonly WrittenStep[]): unknown[] => {
  const { steps: written } = shortForm({ name: "steps", steps }, verbs);
  return Array.isArray(written) ? written : [...steps];
};

type Proposal = { step: number; check: Check; isFirst: boolean };

/** Checks that may be added behind a step: those that a screen's own check does not say already, each once. */
export function proposalsIn({ steps }: Report): Proposal[] {
  const arrivals = steps.flatMap(({ arrival }) => arrival ?? []);
  const seen: Check[] = [...arrivals];
  return steps.flatMap(({ proposals }, step) => {
    const fresh = proposals.filter((check) => !seen.some((one) => isDeepStrictEqual(one, check)));
    seen.push(...fresh);
    return fresh.map((check, index) => ({ step, check, isFirst: index === 0 }));
  });
}

/** The numbers of checks that a person types: none, some, or nothing for those with a mark. */
export async function chooseChecks(
  proposals: readonly Proposal[],
  { ask, err }: Pick<Terminal, "ask" | "err">,
): Promise<Proposal[]> {
  const marked = proposals.filter(({ isFirst }) => isFirst);
  if (!ask || proposals.length === 0) return marked;
  err("\nChecks of what the steps changed:\n");
  for (const [index, { step, check, isFirst }] of proposals.entries())
    err(
      `${String(index + 1).padStart(3)}${isFirst ? "*" : " "} after step ${step + 1}: ${checkText(check)}\n`,
    );
  const answer = (await ask("Numbers to add, Enter for those with *, - for none: "))?.trim();
  if (!answer) return marked;
  const numbers = answer.split(/[\s,]+/).map(Number);
  return proposals.filter((_, index) => numbers.includes(index + 1));
}

/** All steps with the checks of new screens and the chosen ones behind the step that they are of. */
export function withChecks({ steps }: Report, chosen: readonly Proposal[]): WrittenStep[] {
  return steps.flatMap((step, index) => {
    const checks = [
      ...(step.arrival ? [step.arrival] : []),
      ...chosen.filter((one) => one.step === index).map(({ check }) => check),
    ];
    return [written(step), ...checks.map(written)];
  });
}

function written({ command, params, negate, ...rest }: Check & Partial<RecordedStep>): WrittenStep {
  const { timeout_ms } = rest;
  return stepOf({ command, params, negate, timeout_ms });
}

const pathOfApp = (app: string, cwd: string): string =>
  filesOfApps(cwd).find((path) => contentOf(path).app === app) ??
  join(findProject(cwd) ?? cwd, projectFiles, "apps", `${fileNameOf(app) || "app"}.yaml`);

function checksOf(node: unknown): unknown[] {
  if (typeof node === "object" && node !== null && "checks" in node) return [node.checks].flat();
  return [node].flat();
}

/** A file that was changed, and what it was before. */
type Added = { file: string; undo(): void };
type Screens = { app: string; url: string; report: Report };

/**
 * Adds new screens with their checks, and the ways between them, to the app's file, which it makes if there is none, and asks for
 * their names. Nothing that stands there is changed. Returns undefined if nothing was added.
 */
export async function addScreens(
  { app, url, report }: Screens,
  { cwd, ask }: Pick<Terminal, "cwd" | "ask">,
): Promise<Added | undefined> {
  const path = pathOfApp(app, cwd);
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const document =
    before === undefined
      ? new Document({ name: app, app: { url }, nodes: {}, edges: {} })
      : parseDocument(before);
  // The older form has its nodes elsewhere.
  if (document.has("tree")) return undefined;
  const labels = await labelsOf(report, document, ask);
  let added = before === undefined ? 1 : 0;
  const put = (...entry: ["nodes" | "edges", string, unknown]) => {
    if (putNew(document, entry)) added++;
  };
  for (const [index, { check }] of report.screens.entries())
    put("nodes", labels[index] ?? "", check ? inWords([written(check)])[0] : []);
  for (const { from, to, steps } of waysIn(report))
    put("edges", `${labels[from]} -> ${labels[to]}`, inWords(steps));
  if (added === 0) return undefined;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, document.toString({ lineWidth: 0 }));
  const undo = () => (before === undefined ? rmSync(path) : writeFileSync(path, before));
  return { file: relative(cwd, path), undo };
}

/** Returns whether there was no such entry. */
function putNew(document: Document, [section, name, value]: [string, string, unknown]): boolean {
  const there = document.get(section);
  // Edges may be a list, which needs no more of a recording.
  if (there !== undefined && there !== null && !isMap(there)) return false;
  if (document.hasIn([section, name])) return false;
  document.setIn([section, name], document.createNode(value));
  return true;
}

/**
 * Each screen's name, once: that of the node with the same check, else one that the person gives. Screens of the same name get numbers.
 * An arrow would end the name of a way.
 */
async function labelsOf({ screens }: Report, app: Document, ask: Terminal["ask"]): Promise<string[]> {
  const nodes = z.record(z.string(), z.unknown()).catch({}).parse(app.toJS().nodes);
  // An app without an entry has one of this name.
  const labels = ["Start"];
  for (const { name, check } of screens) {
    const words = check && inWords([written(check)]);
    const known = Object.keys(nodes).find((node) => isDeepStrictEqual(checksOf(nodes[node]), words));
    const typed = known ?? (await ask?.(`Name of the screen "${name}", Enter for this: `))?.trim();
    const wished = (typed || name).replaceAll("->", "-").trim() || `Screen ${labels.length}`;
    let label = wished;
    for (let number = 2; labels.includes(label); number++) label = `${wished} ${number}`;
    labels.push(label);
  }
  return labels.slice(1);
}

/** What led from each screen to the next. A way that begins with an address says nothing of the app. */
function waysIn({ steps }: Report): { from: number; to: number; steps: WrittenStep[] }[] {
  const ways: { from: number; to: number; steps: WrittenStep[] }[] = [];
  let from: number | undefined;
  let since: RecordedStep[] = [];
  for (const step of steps) {
    if (step.by !== "picked") since.push(step);
    if (step.screen === undefined) continue;
    const isOfApp = !since.some(({ command }) => command === "navigate_to_url");
    if (from !== undefined && isOfApp) ways.push({ from, to: step.screen, steps: since.map(written) });
    from = step.screen;
    since = [];
  }
  return ways;
}
