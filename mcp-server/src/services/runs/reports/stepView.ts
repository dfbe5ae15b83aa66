import { noticesOf, type Step } from "../../../domain/index.ts";
import type { StepNode } from "../../../views/stepTree.ts";
import { type Finding, findingOf, seconds } from "../judgement/facts.ts";
import { activityView } from "./activityView.ts";
import { badge, escapeMarkup as e } from "./markup.ts";
import { pictureView, type Shot, shotsOf } from "./pictures.ts";
import type { ReportEntry } from "./types.ts";

/** Longer inputs and outputs are cut in the page; the execution has them whole. */
const shownCharacters = 6_000;

/** The run that a step is of; `total` and `from` are its length and its beginning in milliseconds. */
type RowContext = { entry: ReportEntry; total: number; from: number };

/** A step that folds, with its parts below it. Parts stand open where something in them did not pass. */
export function stepRow(node: StepNode, row: RowContext): string {
  const { step, children, status } = node;
  const isOpen = children.length > 0 && status !== "passed";
  return [
    `<details class="step"${isOpen ? " open" : ""}><summary>${badge(status)}`,
    `<span class="label">${e(node.label)}${step ? `<span class="soft">${e(whereOf(step))}</span>` : ""}</span>`,
    `${track(node, row)}<span class="time">${seconds(node.duration_ms)}</span></summary><div class="body">`,
    ...(children.length === 0 ? [] : parts(children, row)),
    step ? bodyOf(step, children, row.entry) : "",
    "</div></details>",
  ].join("");
}

const parts = (children: readonly StepNode[], row: RowContext) => [
  '<div class="parts">',
  ...children.map((child) => stepRow(child, row)),
  "</div>",
];

/** A part that did not pass says why by itself; its parent does not say it again. */
function bodyOf(step: Step, children: readonly StepNode[], entry: ReportEntry): string {
  const called = block("Input", step.input) + block("Output", step.output);
  if (children.length === 0) return details(step, entry) + called;
  const hasFailed = children.some(({ status }) => status !== "passed");
  return `${hasFailed ? notices(step) + activityView(step) : details(step, entry)}<details><summary class="soft small">Input and output</summary>${called}</details>`;
}

const whereOf = ({ kind, path, index }: Step) =>
  [kind, ...(path === "" ? [] : [path]), `step ${index + 1}`].join(" · ");

function track({ started_at, duration_ms }: StepNode, { total, from }: RowContext): string {
  const left = Math.min(100, Math.max(0, ((Date.parse(started_at) - from) / total) * 100));
  const width = Math.min(100 - left, (duration_ms / total) * 100);
  return `<span class="track"><i style="left:${left.toFixed(1)}%;width:${width.toFixed(1)}%"></i></span>`;
}

/** What a step says of itself: what was expected and found, or its error, on the picture that shows it; its notices; and what the app logged and requested. */
export function details(step: Step, entry: ReportEntry): string {
  const finding = findingOf(step);
  const words = finding ? findingTable(finding) : errorLine(step);
  const shots = shotsOf(step, entry);
  const main = shots.find(([, caption]) => /judged|after/.test(caption)) ?? shots[0];
  const seen = notices(step) + activityView(step);
  if (words === "" || !main) return words + gallery(shots, entry) + seen;
  const others = shots.filter((shot) => shot !== main);
  const [uri, caption] = main;
  // A place is one of the first picture that was judged, or else of the screen.
  const area = uri === (finding?.evidence[0] ?? uri) ? finding?.area : undefined;
  const framed = area ? `; the frame is where it was seen${likeness(finding)}` : "";
  const text = finding ? `${caption}: expected ${finding.expected}; found ${finding.found}` : caption;
  return [
    `<figure class="main"><figcaption>${words}${e(caption)}${framed}</figcaption>${picture(uri, { text, area, entry })}</figure>`,
    gallery(others, entry),
    seen,
  ].join("");
}

const likeness = ({ score }: Pick<Finding, "score"> = {}) =>
  score === undefined ? "" : `, ${Math.round(score * 100)} % like what is expected`;

function gallery(shots: readonly Shot[], entry: ReportEntry): string {
  if (shots.length === 0) return "";
  const figures = shots.map(
    ([uri, caption]) =>
      `<figure><figcaption>${e(caption)}</figcaption>${picture(uri, { text: caption, entry })}</figure>`,
  );
  return `<div class="shots">${figures.join("")}</div>`;
}

function picture(
  uri: string,
  { text, area, entry }: { text: string; area?: Finding["area"]; entry: ReportEntry },
): string {
  const found = entry.pictures.get(uri);
  return found
    ? pictureView(uri, found, { text, area })
    : `<span class="soft small">not in this file: ${e(uri)}</span>`;
}

function notices(step: Step): string {
  const items = noticesOf(step).map((notice) => `<li>${e(notice)}</li>`);
  return items.length > 0 ? `<ul class="notices">${items.join("")}</ul>` : "";
}

const errorLine = ({ error }: Step) =>
  error ? `<p class="fault">${e(`${error.code}: ${error.message}`)}</p>` : "";

function findingTable({ expected, found, nearest }: Finding): string {
  const near = nearest.length > 0 ? `<tr><th>Nearest</th><td>${nearest.map(e).join("<br>")}</td></tr>` : "";
  return `<table class="finding"><tr><th>Expected</th><td>${e(expected)}</td></tr><tr><th>Found</th><td>${e(found)}</td></tr>${near}</table>`;
}

function block(title: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = JSON.stringify(value, undefined, 2);
  if (text === "{}") return "";
  const cut =
    text.length > shownCharacters
      ? `${text.slice(0, shownCharacters)}\n... ${text.length - shownCharacters} more characters`
      : text;
  return `<h3>${title}</h3><pre>${e(cut)}</pre>`;
}
