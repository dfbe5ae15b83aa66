import { besideVerdict, type Execution, noticesOf, type Params } from "../../../domain/index.ts";
import { stepTree } from "../../../views/stepTree.ts";
import {
  decidingStep,
  decidingSteps,
  durationOf,
  flakyReason,
  inputsOf,
  seconds,
  startFacts,
  startOf,
} from "../judgement/facts.ts";
import { badge, escapeMarkup as e } from "./markup.ts";
import { details, stepRow } from "./stepView.ts";
import type { ReportEntry } from "./types.ts";

export const wordOf = ({ status, flaky }: Execution): string => (flaky ? "flaky" : status);

/** A run as a section that folds: its verdict and its reason are seen either way. */
export function testView(entry: ReportEntry, { isOpen }: { isOpen: boolean }): string {
  const { execution, steps } = entry;
  const word = wordOf(execution);
  const row = { entry, total: Math.max(1, durationOf(execution)), from: startOf(execution) };
  return [
    `<details class="test"${isOpen ? " open" : ""}><summary>${badge(word)}<h2>${e(execution.name)}</h2>`,
    `<span class="time">${seconds(durationOf(execution))}</span>${why(execution)}${besideIt(entry)}</summary>`,
    decision(entry),
    execution.rerun === undefined ? "" : `<p class="rerun">${e(execution.rerun)}</p>`,
    attemptsTable(execution),
    `<div class="steps">${stepTree(steps)
      .map((node) => stepRow(node, row))
      .join("\n")}</div>`,
    steps.length === 0 ? '<p class="soft">No step was made.</p>' : "",
    facts(entry),
    "</details>",
  ].join("\n");
}

function why(execution: Execution): string {
  const { status, reason, flaky } = execution;
  if (reason) return `<div class="reason ${status}"><b>${e(reason.code)}</b> ${e(reason.message)}</div>`;
  return flaky
    ? `<div class="reason flaky">It passed only when it was tried again. The first attempt: ${e(flakyReason(execution))}</div>`
    : "";
}

function besideIt({ steps }: ReportEntry): string {
  const lines = besideVerdict(steps.flatMap(noticesOf)).map((line) => `<li>${e(line)}</li>`);
  return lines.length === 0 ? "" : `<ul class="reason notices">${lines.join("")}</ul>`;
}

function decision(entry: ReportEntry): string {
  const step = entry.execution.status === "passed" ? undefined : decidingStep(decidingSteps(entry));
  if (!step) return "";
  return `<div class="decision"><h3>${e(step.label)}</h3>${details(step, entry)}</div>`;
}

/** Of a run that was tried more than once: every attempt, since a pass after a failure is not a plain pass. */
function attemptsTable({ attempts = [] }: Execution): string {
  if (attempts.length === 0) return "";
  const rows = attempts.map(({ id, status, reason, duration_ms }, index) => {
    const because = reason ? `${reason.code}: ${reason.message}` : "";
    const cells = [String(index + 1), badge(status), seconds(duration_ms), e(because), e(id)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const heads = ["#", "Result", "Time", "Why", "Id"].map((head) => `<th>${head}</th>`);
  return `<table class="matrix attempts"><thead><tr>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function facts({ execution, traces = [] }: ReportEntry): string {
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
  const items = rows.flatMap(([name, value]) => (value === undefined ? [] : [fact(name, e(value))]));
  return `<dl class="facts">${items.join("")}${sessionLink(execution)}${traces.map(traceLink).join("")}</dl>`;
}

const fact = (name: string, html: string) => `<div><dt>${e(name)}</dt><dd>${html}</dd></div>`;

function sessionLink({ session_url: url }: Execution): string {
  return url === undefined
    ? ""
    : fact("Session in the cloud", `<a href="${e(url)}" rel="noreferrer">${e(url)}</a>`);
}

const traceLink = (path: string) =>
  fact("Trace, for labwright trace", `<a href="${e(encodeURI(path))}">${e(path)}</a>`);

const listed = (params: Params) => (Object.keys(params).length > 0 ? JSON.stringify(params) : undefined);

export const clockText = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
