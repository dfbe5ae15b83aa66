import type { AgentEventBody, SessionEnded } from "../events.ts";
import { jsonLine, plain, plainLine } from "./plain.ts";
import type { Style } from "./terminal.ts";
import { costLine, counted, duration, shortArguments } from "./words.ts";

type Of<Type extends AgentEventBody["type"]> = Extract<AgentEventBody, { type: Type }>;

const maxErrorLine = 200;

/**
 * Makes text of a run's events, in order: a call returns what its event adds to the screen. Nothing in it can steer the
 * terminal.
 */
export function createRenderer(style: Style): (event: AgentEventBody) => string {
  let pieces = "";
  let isMidLine = false;
  const endLine = () => {
    const end = isMidLine ? "\n" : "";
    isMidLine = false;
    return end;
  };
  const renderPiece = (text: string) => {
    pieces += text;
    const shown = plain(text);
    if (shown !== "") isMidLine = !shown.endsWith("\n");
    return shown;
  };
  /** The whole message repeats its pieces, unless they were cut off and written anew. */
  const renderWhole = (text: string) => {
    const isShown = text === pieces;
    pieces = "";
    return isShown ? endLine() : `${endLine()}${plain(text).trimEnd()}\n`;
  };
  return (event) => {
    if (event.type === "message") return event.partial ? renderPiece(event.text) : renderWhole(event.text);
    if (event.type === "session_ended") pieces = "";
    const text = textOf(event, style);
    return text === "" ? "" : `${endLine()}${text}\n`;
  };
}

function textOf(event: Exclude<AgentEventBody, Of<"message">>, style: Style): string {
  switch (event.type) {
    case "thinking":
      return style("dim", plain(event.text).trimEnd());
    case "skill_loaded":
      return style("bold", plainLine(event.text, 120));
    case "tool_call":
      return `→ ${plainLine(event.tool, 80)}(${style("dim", shortArguments(event.input))})`;
    case "tool_result":
      return resultText(event, style);
    case "progress":
      return style("dim", `${event.kind === "tool" ? "  … " : ""}${plainLine(event.text, 300)}`);
    case "approval_required":
      return approvalText(event, style);
    case "handoff":
      return [style("bold", plain(event.question).trimEnd()), ...numbered(event.options, event.details)].join(
        "\n",
      );
    case "error":
      return style("red", errorText(event));
    case "session_ended":
      return endText(event, style);
  }
}

function resultText({ tool, is_error, duration_ms, text, images }: Of<"tool_result">, style: Style): string {
  const head = `← ${plainLine(tool, 80)} ${duration(duration_ms)}`;
  const firstLine = plain(text).trimStart().split("\n")[0] ?? "";
  if (is_error) return `${head} ${style("red", `error: ${plainLine(firstLine, maxErrorLine)}`)}`;
  return `${head} ${style("green", "ok")}${images === 0 ? "" : `, ${counted(images, "picture")}`}`;
}

/** Unlike the line of a call, it hides nothing of what would be done. */
function approvalText({ tool, input, reason, expires_at }: Of<"approval_required">, style: Style): string {
  const given = Object.entries(input).map(
    ([name, value]) => `${plainLine(name, 80)}=${jsonLine(value).trimEnd()}`,
  );
  return [
    style("yellow", `Approval needed: ${plainLine(tool, 80)}(${given.join(", ")})`),
    `  why: ${plainLine(reason, 300)}`,
    `  answer until ${new Date(expires_at).toLocaleTimeString("en-GB")}`,
  ].join("\n");
}

/** `  1. List the devices`, from 1. */
export const numbered = (texts: readonly string[], details: readonly string[] = []): string[] =>
  texts.map((text, index) => {
    const detail = details[index];
    return `  ${index + 1}. ${plainLine(detail === undefined ? text : `${text}: ${detail}`, 200)}`;
  });

const errorText = ({ code, message, hint }: Of<"error">): string =>
  [`${plainLine(code, 80)}: ${plain(message).trimEnd()}`, plain(hint).trimEnd()].filter(Boolean).join("\n");

const limits = {
  turns: "turns",
  tokens: "tokens",
  cost: "cost",
  time: "time",
  output_tokens: "tokens in one reply",
  context_full: "what the model can read; start a new conversation",
} as const;

/** A failure's reason came before it, as an `error`. */
function endText(end: SessionEnded, style: Style): string {
  const cost = style("dim", costLine(end));
  if (end.outcome === "cancelled") return `${style("yellow", "Interrupted.")}\n${cost}`;
  if (end.outcome === "refused") return `${style("red", "The model refused to go on.")}\n${cost}`;
  if (end.outcome !== "limit") return cost;
  const limit = end.limit === undefined ? "" : ` of ${limits[end.limit]}`;
  return `${style("red", `Stopped at its limit${limit}.`)}\n${cost}`;
}
