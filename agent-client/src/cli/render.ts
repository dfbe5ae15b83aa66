import { AgentError } from "../errors.ts";
import type { AgentEvent, AgentEventBody, SessionEnded } from "../events.ts";
import { inputOf, type Spent, spentText } from "../model/usage.ts";
import { jsonLine, plain, plainLine } from "./plain.ts";
import type { Style, Terminal } from "./terminal.ts";

type Of<Type extends AgentEventBody["type"]> = Extract<AgentEventBody, { type: Type }>;

export function livePrinter({ out }: Terminal) {
  const render = createRenderer(out.style);
  return (event: AgentEvent) => out.write(render(event));
}

/** Writes only the answer of a run that is done to stdout; what led to it, and any other end, to stderr. */
export function answerPrinter({ out, err }: Terminal) {
  const render = createRenderer(err.style);
  /** The last message. It is the answer if nothing but progress comes before the run is done. */
  let held = "";
  return (event: AgentEvent) => {
    if (event.type === "message" && event.partial) return;
    if (event.type === "progress") return err.write(render(event));
    const answer = answerOf(event);
    if (answer === "") err.write(held);
    else out.write(`${answer}\n`);
    held = event.type === "message" ? err.style("dim", render(event)) : "";
    if (event.type !== "message") err.write(render(event));
  };
}

const answerOf = (event: AgentEvent): string =>
  event.type === "session_ended" && event.outcome === "done" ? plain(event.text).trimEnd() : "";

export function jsonPrinter({ out }: Terminal) {
  return (event: AgentEvent) => out.write(jsonLine(event));
}

/** Makes text of one run's events, in order: a call returns what its event adds. Nothing in it can steer the terminal. */
export function createRenderer(style: Style): (event: AgentEventBody) => string {
  /** Of a message that has not come as a whole yet. */
  let pieces = "";
  let isMidLine = false;
  const renderPiece = (text: string) => {
    pieces += text;
    const shown = plain(text);
    if (shown !== "") isMidLine = !shown.endsWith("\n");
    return shown;
  };
  return (event) => {
    if (event.type === "message" && event.partial) return renderPiece(event.text);
    const start = isMidLine ? "\n" : "";
    isMidLine = false;
    // The whole message repeats its pieces, unless they were cut off and written anew.
    const isShown = event.type === "message" && event.text === pieces;
    if (event.type === "message") pieces = "";
    const text = isShown ? "" : textOf(event, style);
    return text === "" ? start : `${start}${text}\n`;
  };
}

function textOf(event: AgentEventBody, style: Style): string {
  switch (event.type) {
    case "message":
      return plain(event.text).trimEnd();
    case "thinking":
      return style("dim", plain(event.text).trimEnd());
    case "skill_loaded":
      return style("bold", plainLine(event.text, 120));
    case "tool_call":
      return `→ ${plainLine(event.tool, 80)}(${style("dim", plainLine(argumentsText(event.input), 110))})`;
    case "tool_result":
      return resultText(event, style);
    case "progress":
      return style("dim", `${event.kind === "tool" ? "  … " : ""}${plainLine(event.text, 300)}`);
    case "approval_required":
      return approvalText(event, style);
    case "handoff":
      return `${style("bold", plain(event.question).trimEnd())}${numbered(event.options, event.details)}`;
    case "error":
      return style("red", errorText(event));
    case "session_ended":
      return endText(event, style);
  }
}

function resultText({ tool, is_error, duration_ms, text, images }: Of<"tool_result">, style: Style): string {
  const head = `← ${plainLine(tool, 80)} ${duration(duration_ms)}`;
  const firstLine = plain(text).trimStart().split("\n")[0] ?? "";
  if (is_error) return `${head} ${style("red", `error: ${plainLine(firstLine, 200)}`)}`;
  return `${head} ${style("green", "ok")}${images === 0 ? "" : `, ${counted(images, "picture")}`}`;
}

/** Unlike the line of a call, it hides nothing of what would be done. */
const approvalText = ({ tool, input, reason, expires_at }: Of<"approval_required">, style: Style): string =>
  [
    style("yellow", `Approval needed: ${plainLine(tool, 80)}(${argumentsText(input)})`),
    `  why: ${plainLine(reason, 300)}`,
    `  answer until ${new Date(expires_at).toLocaleTimeString("en-GB")}`,
  ].join("\n");

/** `name="sign in", confirm=true` */
const argumentsText = (input: Readonly<Record<string, unknown>>): string =>
  Object.entries(input)
    .map(([name, value]) => `${plainLine(name, 80)}=${jsonLine(value).trimEnd()}`)
    .join(", ");

/** Lines like `  1. List the devices`, a line feed before each. */
export const numbered = (texts: readonly string[], details: readonly string[] = []): string =>
  texts
    .map((text, index) => [text, details[index]].filter(Boolean).join(": "))
    .map((text, index) => `\n  ${index + 1}. ${plainLine(text, 200)}`)
    .join("");

const errorText = ({ code, message, hint }: Omit<Of<"error">, "type">): string =>
  [`${plainLine(code, 80)}: ${plain(message).trimEnd()}`, plain(hint).trimEnd()].filter(Boolean).join("\n");

export const failureText = (error: unknown): string =>
  `${error instanceof AgentError ? errorText(error) : plain(String(error))}\n`;

/** A failure's reason came before it, as an `error`. */
function endText(end: SessionEnded, style: Style): string {
  const cost = style("dim", costLine(end));
  if (end.outcome === "cancelled") return `${style("yellow", "Interrupted.")}\n${cost}`;
  if (end.outcome === "refused") return `${style("red", "The model refused to go on.")}\n${cost}`;
  if (end.outcome !== "limit") return cost;
  const limit = (end.limit ?? "unknown").replace("_", " ");
  const hint = end.limit === "context_full" ? " Begin another conversation." : "";
  return `${style("red", `Stopped at its limit: ${limit}.${hint}`)}\n${cost}`;
}

const duration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What a run or a conversation took: turns, time, and tokens and money if a model was asked. */
export function costLine(end: Spent & { turns: number; duration_ms?: number }): string {
  const time = end.duration_ms === undefined ? "" : ` · ${duration(end.duration_ms)}`;
  const spent = inputOf(end.usage) === 0 ? "" : ` · ${spentText(end)}`;
  return `${counted(end.turns, "turn")}${time}${spent}`;
}
