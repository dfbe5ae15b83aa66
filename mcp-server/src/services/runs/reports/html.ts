import type { Execution, Params, Step } from "../../../domain/index.ts";
import {
  decidingStep,
  decidingSteps,
  durationOf,
  type Finding,
  findingOf,
  inputsOf,
  noticesOf,
  seconds,
  startFacts,
  startOf,
  summarize,
} from "../judgement/facts.ts";
import { escapeMarkup as e } from "./escape.ts";
import { reportStyle } from "./style.ts";
import type { CheckedRequirement, Picture, ReportEntry, ReportHead } from "./types.ts";

/** Longer inputs and outputs are cut in the page; the execution has them whole. */
const shownCharacters = 6_000;

/**
 * One HTML file that needs nothing else: no script, no network, pictures inside. The policy in its head makes sure of
 * it even if a hostile page's text got through the escaping.
 */
export function htmlReport(entries: readonly ReportEntry[], head: ReportHead): string {
  const [only] = entries;
  const title = entries.length === 1 && only ? only.execution.name : `${entries.length} test runs`;
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${e(title)} - Labwright report</title><style>${reportStyle}</style></head><body><main>`,
    `<h1>Labwright report</h1><div class="soft">${e(title)} &middot; ${e(clockText(head.generatedAt))}</div>`,
    counts(entries),
    traceMatrix(entries),
    ...entries.map(section),
    `<footer>Labwright &middot; report ${e(head.id)}</footer>`,
    "</main></body></html>",
    "",
  ].join("\n");
}

function counts(entries: readonly ReportEntry[]): string {
  const { tests, passed, flaky, failed, errors, other, duration_ms } = summarize(entries);
  const cells: [string, string, string][] = [
    ["", String(tests), tests === 1 ? "run" : "runs"],
    ["passed", String(passed), "passed"],
    ["flaky", String(flaky), "of them flaky"],
    ["failed", String(failed), "failed"],
    ["error", String(errors), "error"],
    ["", String(other), "cancelled"],
    ["", seconds(duration_ms), "in all"],
  ];
  const shown = cells.filter(([, value, label]) => value !== "0" || !/cancelled|flaky/.test(label));
  const items = shown.map(
    ([kind, value, label]) => `<div class="count ${kind}"><b>${value}</b>${label}</div>`,
  );
  return `<div class="counts">${items.join("")}</div>`;
}

/** What each run says of the requirements that its test case checks, by requirement. */
function traceMatrix(entries: readonly ReportEntry[]): string {
  const rows = entries.flatMap(({ execution, requirements = [] }) =>
    requirements.map((requirement) => ({ requirement, execution })),
  );
  if (rows.length === 0) return "";
  const sorted = rows.sort((a, b) => inOrder(a.requirement.code, b.requirement.code));
  const heads = ["Requirement", "Test case", "Coverage", "Result", "Execution"];
  return [
    '<section class="requirements"><h2>Requirements</h2><table class="matrix">',
    `<thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>`,
    ...sorted.map(({ requirement, execution }) => traceRow(requirement, execution)),
    "</tbody></table></section>",
  ].join("\n");
}

const inOrder = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function traceRow({ code, name, coverage }: CheckedRequirement, { name: testcase, status, id }: Execution) {
  const cells = [`<b>${e(code)}</b> ${e(name)}`, e(testcase), coverage, badge(status), e(id)];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function section(entry: ReportEntry): string {
  const { execution, steps, pictures } = entry;
  const { status, reason } = execution;
  const deciding = status === "passed" ? undefined : decidingStep(decidingSteps(entry));
  const total = Math.max(1, durationOf(execution));
  return [
    '<section class="run">',
    `<div class="title">${badge(status)}${execution.flaky ? badge("flaky") : ""}<h2>${e(execution.name)}</h2></div>`,
    facts(execution),
    attemptsTable(execution),
    reason ? `<div class="reason ${status}"><b>${e(reason.code)}</b><br>${e(reason.message)}</div>` : "",
    execution.rerun === undefined ? "" : `<p class="rerun">${e(execution.rerun)}</p>`,
    deciding ? decision(deciding, pictures) : "",
    `<div class="steps">${steps.map((step) => stepRow(step, { pictures, total, from: startOf(execution) })).join("\n")}</div>`,
    steps.length === 0 ? '<p class="soft">No step was made.</p>' : "",
    "</section>",
  ].join("\n");
}

/** Of a run that was tried more than once: every attempt, since a pass behind a failure is no plain pass. */
function attemptsTable({ attempts = [] }: Execution): string {
  if (attempts.length === 0) return "";
  const rows = attempts.map(({ id, status, reason, duration_ms }, index) => {
    const why = reason ? `${reason.code}: ${reason.message}` : "";
    const cells = [String(index + 1), badge(status), seconds(duration_ms), e(why), e(id)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const heads = ["Attempt", "Result", "Duration", "Why", "Id"].map((head) => `<th>${head}</th>`);
  return `<table class="matrix attempts"><thead><tr>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

const badge = (status: string) => `<span class="badge ${status}">${status}</span>`;

function facts(execution: Execution): string {
  const rows: [string, string | undefined][] = [
    ["Device", execution.device && `${execution.device} (${execution.device_model})`],
    ["App", execution.userinterface],
    ["Started", clockText(execution.started_at)],
    ["Duration", execution.duration_ms === undefined ? "not ended" : seconds(execution.duration_ms)],
    ["Checks made", String(execution.verified_count)],
    ["Environment", execution.environment],
    ["Release", execution.release],
    ["Build", execution.build],
    ["Browser or device version", execution.device_version],
    ...startFacts(execution).map(([name, value]): [string, string] => [
      `Started ${name.replaceAll("_", " ")}`,
      value,
    ]),
    ["Correlation", execution.correlation_id],
    ["Execution", execution.id],
    ["Inputs", listed(inputsOf(execution))],
    ["Outputs", listed(execution.outputs)],
  ];
  const items = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`<div><dt>${e(name)}</dt><dd>${e(value)}</dd></div>`],
  );
  return `<dl class="facts">${items.join("")}</dl>`;
}

const listed = (params: Params) => (Object.keys(params).length > 0 ? JSON.stringify(params) : undefined);

/** What decided the verdict, on top of the steps: nobody should have to look for it. */
function decision(step: Step, pictures: ReportEntry["pictures"]): string {
  const finding = findingOf(step);
  const rows = finding ? findingTable(finding) : errorLine(step);
  return `<h3>${e(step.label)}</h3>${rows}${noticeList(step)}${shots(step, pictures)}`;
}

function noticeList(step: Step): string {
  const items = noticesOf(step).map((notice) => `<li>${e(notice)}</li>`);
  return items.length > 0 ? `<ul class="notices">${items.join("")}</ul>` : "";
}

const errorLine = ({ error }: Step) => (error ? `<p>${e(`${error.code}: ${error.message}`)}</p>` : "");

function findingTable({ expected, found, nearest }: Finding): string {
  const near = nearest.length > 0 ? `<tr><th>Nearest</th><td>${nearest.map(e).join("<br>")}</td></tr>` : "";
  return `<table class="finding"><tr><th>Expected</th><td>${e(expected)}</td></tr><tr><th>Found</th><td>${e(found)}</td></tr>${near}</table>`;
}

type RowContext = { pictures: ReportEntry["pictures"]; total: number; from: number };

function stepRow(step: Step, { pictures, total, from }: RowContext): string {
  const left = Math.min(100, Math.max(0, ((Date.parse(step.started_at) - from) / total) * 100));
  const width = Math.min(100 - left, (step.duration_ms / total) * 100);
  const where = step.path === "" ? step.kind : `${step.kind} · ${step.path}`;
  const finding = findingOf(step);
  return [
    '<details class="step"><summary>',
    `<span class="n">${step.index + 1}</span><span class="label">${e(step.label)}<span class="soft">${e(where)}</span></span>`,
    `<span class="track"><i style="left:${left.toFixed(1)}%;width:${width.toFixed(1)}%"></i></span>`,
    `<span class="time">${seconds(step.duration_ms)}</span><span class="state">${badge(step.status)}</span></summary>`,
    '<div class="body">',
    finding ? findingTable(finding) : errorLine(step),
    noticeList(step),
    shots(step, pictures),
    block("Input", step.input),
    block("Output", step.output),
    "</div></details>",
  ].join("");
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

function shots(step: Step, pictures: ReportEntry["pictures"]): string {
  const images = step.artifacts.filter(({ mime_type }) => mime_type.startsWith("image/"));
  const merged = new Map<string, string[]>();
  for (const { kind, uri } of images) {
    merged.set(uri, [...(merged.get(uri) ?? []), kind.replace("screenshot_", "").replaceAll("_", " ")]);
  }
  if (merged.size === 0) return "";
  const figures = [...merged].map(([uri, kinds]) => figure(kinds.join(" and "), uri, pictures.get(uri)));
  return `<div class="shots">${figures.join("")}</div>`;
}

function figure(caption: string, uri: string, picture: Picture | undefined): string {
  const shown = picture
    ? `<img alt="${e(caption)}" src="data:${e(picture.mimeType)};base64,${Buffer.from(picture.bytes).toString("base64")}">`
    : `<span class="soft small">not in this file: ${e(uri)}</span>`;
  return `<figure><figcaption>${e(caption)}</figcaption>${shown}</figure>`;
}

const clockText = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
