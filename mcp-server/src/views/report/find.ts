import { duration } from "../format.ts";

/** The script of a report: shows its filter, and folds and hides tests. The report is whole without it. */
const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];

const form = document.querySelector<HTMLFormElement>("form.find");
if (form) start(form);

function partsOf(element: Element | null) {
  return [...(element?.children ?? [])].map((part) => part.textContent);
}

function start(form: HTMLFormElement): void {
  const tests = all("details.test").map((element) => ({
    element,
    word: element.dataset.word ?? "",
    // The summary comes first. Its parts are apart: "checkout 4" and "3.2 s" are not "checkout 43".
    text: [element.dataset.group ?? "", ...partsOf(element.firstElementChild)].join("\n").toLowerCase(),
  }));
  const output = form.querySelector("output");
  const show = () => {
    const asked = new FormData(form);
    const word = String(asked.get("word"));
    const text = String(asked.get("text")).trim().toLowerCase();
    let shown = 0;
    for (const test of tests) {
      const isShown = (word === "" || test.word === word) && test.text.includes(text);
      test.element.hidden = !isShown;
      if (isShown) shown += 1;
    }
    for (const group of all("section.tests"))
      group.hidden = group.querySelector("details.test:not([hidden])") === null;
    if (output) output.textContent = `${shown} of ${tests.length} shown`;
  };
  const fold = (isOpen: boolean) => {
    for (const test of all("details.test:not([hidden])")) test.toggleAttribute("open", isOpen);
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[name=open]")?.addEventListener("click", () => fold(true));
  form.querySelector("[name=close]")?.addEventListener("click", () => fold(false));
  // A browser keeps what was asked over a reload.
  show();
  form.hidden = false;
}

type Run = {
  execution: { id: string } & Record<string, unknown>;
  steps: { label: string; status: string; duration_ms: number; input?: unknown; output?: unknown }[];
};
let runs: Promise<Map<string, Run>> | undefined;

/** The runs by id, from the data that the report holds. */
async function readRuns(): Promise<Map<string, Run>> {
  const packed = document.querySelector<HTMLTemplateElement>("#labwright-runs")?.content.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data: { runs: Run[] } = await new Response(text).json();
  return new Map(data.runs.map((run) => [run.execution.id, run]));
}

function make(name: string, className: string, ...parts: (string | Node)[]): HTMLElement {
  const element = document.createElement(name);
  element.className = className;
  element.append(...parts);
  return element;
}

function stepOf({ label, status, duration_ms, ...values }: Run["steps"][number]): HTMLElement {
  const tone = { passed: "good", skipped: "warn" }[status] ?? "bad";
  const summary = make(
    "summary",
    "",
    make("span", `badge ${tone}`, status),
    make("span", "label", label),
    make("span", "soft small", duration(duration_ms)),
  );
  const { input, output } = values;
  const step = make(
    "details",
    "step",
    summary,
    make("pre", "body", JSON.stringify({ input, output }, null, 2)),
  );
  return make("li", "", step);
}

/** Draws what a large report left out of a test. */
async function drawRun(test: EventTarget | null): Promise<void> {
  if (!(test instanceof HTMLDetailsElement) || !test.open) return;
  const place = test.querySelector(":scope > .later");
  if (!place) return;
  runs ??= readRuns();
  const { steps = [], execution = {} } = (await runs).get(test.id.replace("run-", "")) ?? {};
  const facts = Object.entries(execution).flatMap(([name, value]) =>
    typeof value === "string" ? [make("dt", "", name.replaceAll("_", " ")), make("dd", "", value)] : [],
  );
  place.replaceWith(make("ol", "steps", ...steps.map(stepOf)), make("dl", "facts", ...facts));
}
// The event does not bubble.
addEventListener("toggle", ({ target }) => void drawRun(target), true);

/** Opens what an address leads into, also in browsers that do not. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at: Element | null = target; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();
