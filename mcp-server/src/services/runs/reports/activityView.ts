import { isFaultyLine, isFaultyRequest } from "../../../domain/activityFaults.ts";
import type { Step, StepActivity } from "../../../domain/index.ts";
import { seconds } from "../judgement/facts.ts";
import { escapeMarkup as e } from "./markup.ts";

type Line = StepActivity["console"][number];
type Request = StepActivity["requests"][number];

/** What the app logged and requested during a failed step, folded unless something in it went wrong. */
export function activityView({ activity }: Step): string {
  if (!activity) return "";
  const { console, requests } = activity;
  return [
    folded("Console", console.map(lineRow), { fault: "errors", faults: console.filter(isFaultyLine).length }),
    folded("Requests", requests.map(requestRow), {
      fault: "failed",
      faults: requests.filter(isFaultyRequest).length,
    }),
  ].join("");
}

function folded(
  title: string,
  rows: readonly string[],
  { fault, faults }: { fault: string; faults: number },
): string {
  if (rows.length === 0) return "";
  const count = `${title}: ${rows.length}${faults > 0 ? `, ${faults} ${fault}` : ""}`;
  return `<details class="activity"${faults > 0 ? " open" : ""}><summary class="soft small">${e(count)}</summary><table class="log"><tbody>${rows.join("")}</tbody></table></details>`;
}

const row = (isFault: boolean, cells: readonly string[]): string =>
  `<tr${isFault ? ' class="fault"' : ""}>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

function lineRow(line: Line): string {
  const place = line.place === undefined ? "" : `<div class="soft small">${e(line.place)}</div>`;
  return row(isFaultyLine(line), [timeOf(line.at), e(line.level), `${e(line.text)}${place}`]);
}

function requestRow(request: Request): string {
  const { at, method, url, type, status, failure, ms, mocked } = request;
  const result = [failure ?? status ?? "no answer yet", mocked && "mocked"].filter(Boolean).join(", ");
  const took = ms === undefined ? "" : seconds(ms);
  const bodies = body("sent", request.sent) + body("answer", request.answer);
  const name = `${e(`${method} ${url}`)} <span class="soft small">${e(type)}</span>`;
  return row(isFaultyRequest(request), [timeOf(at), e(result), took, `${name}${bodies}`]);
}

const body = (title: string, text: string | undefined): string =>
  text === undefined ? "" : `<div class="soft small">${title}</div><pre>${e(text)}</pre>`;

/** Hours to milliseconds, UTC. */
const timeOf = (at: string): string => e(at.slice(11, 23));
