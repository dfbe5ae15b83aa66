import type { AgentEvent, AgentEventBody, SessionEnded } from "../events.ts";
import type { Paint } from "./paint.ts";
import { plain, plainLine } from "./plain.ts";
import { costLine, duration, shortArguments, timeOfDay } from "./words.ts";

/** What is on the screen already, as far as the next event's text depends on it. */
export type View = {
  /** The pieces of the answer that is being written. */
  pieces: string;
  /** Whether the last line has no end yet. */
  isMidLine: boolean;
  /** The failure that was told last, which an end may repeat. */
  failure: string;
};
export const emptyView: View = { pieces: "", isMidLine: false, failure: "" };

type Of<Type extends AgentEventBody["type"]> = Extract<AgentEventBody, { type: Type }>;

const maxErrorLine = 200;

/** The text that an event adds to the screen, and the screen after it. Nothing in it can move the cursor. */
export function render(view: View, event: AgentEvent, paint: Paint): { view: View; text: string } {
  if (event.type === "message") return event.partial ? renderPiece(view, event) : renderWhole(view, event);
  const text = bodyText(view, event, paint);
  const isEnd = event.type === "session_ended";
  return {
    text: text === "" ? "" : `${view.isMidLine ? "\n" : ""}${text}\n`,
    view: {
      pieces: isEnd ? "" : view.pieces,
      isMidLine: text === "" && view.isMidLine,
      failure: event.type === "error" ? failure(event) : isEnd ? "" : view.failure,
    },
  };
}

function renderPiece(view: View, { text }: Of<"message">): { view: View; text: string } {
  const shown = plain(text);
  const isMidLine = shown === "" ? view.isMidLine : !shown.endsWith("\n");
  return { text: shown, view: { ...view, pieces: view.pieces + text, isMidLine } };
}

/** The whole answer says what its pieces said, unless they were cut off and written anew. */
function renderWhole(view: View, { text }: Of<"message">): { view: View; text: string } {
  const end = view.isMidLine ? "\n" : "";
  const after = { ...view, pieces: "", isMidLine: false };
  if (text === view.pieces) return { text: end, view: after };
  return { text: `${end}${plain(text).trimEnd()}\n`, view: after };
}

function bodyText(view: View, event: Exclude<AgentEventBody, Of<"message">>, paint: Paint): string {
  switch (event.type) {
    case "thinking":
      return paint.dim(plain(event.text).trimEnd());
    case "skill_loaded":
      return paint.strong(plainLine(event.text, 120));
    case "tool_call":
      return `→ ${plainLine(event.tool, 80)}(${paint.dim(shortArguments(event.input))})`;
    case "tool_result":
      return resultText(event, paint);
    case "progress":
      return paint.dim(`${event.kind === "tool" ? "  … " : ""}${plainLine(event.text, 300)}`);
    case "approval_required":
      return approvalText(event, paint);
    case "handoff":
      return [paint.strong(plain(event.question).trimEnd()), ...numbered(event.options, event.details)].join(
        "\n",
      );
    case "error":
      return paint.bad(failure(event));
    case "session_ended":
      return endText(view, event, paint);
  }
}

function resultText({ tool, is_error, duration_ms, text, images }: Of<"tool_result">, paint: Paint): string {
  const head = `← ${plainLine(tool, 80)} ${duration(duration_ms)}`;
  if (is_error) return `${head} ${paint.bad(`error: ${plainLine(firstLine(text), maxErrorLine)}`)}`;
  const pictures = images === 0 ? "" : images === 1 ? ", a picture" : `, ${images} pictures`;
  return `${head} ${paint.good("ok")}${pictures}`;
}

const firstLine = (text: string): string => plain(text).trimStart().split("\n")[0] ?? "";

function approvalText({ tool, input, reason, expires_at }: Of<"approval_required">, paint: Paint): string {
  return [
    paint.warn(`Approval needed: ${plainLine(tool, 80)}(${approvalArguments(input)})`),
    `  why: ${plainLine(reason, 300)}`,
    `  it can be answered until ${timeOfDay(expires_at)}`,
  ].join("\n");
}

/** All that would be done, unlike in the line of a call: nothing of it may be hidden from who decides. */
const approvalArguments = (input: Readonly<Record<string, unknown>>): string =>
  Object.entries(input)
    .map(([name, value]) => `${plainLine(name, 80)}=${plainLine(JSON.stringify(value), 2_000)}`)
    .join(", ");

/** `  1. List the devices`, from 1. */
export const numbered = (texts: readonly string[], details: readonly string[] = []): string[] =>
  texts.map((text, index) => {
    const detail = details[index];
    return `  ${index + 1}. ${plainLine(detail === undefined ? text : `${text}: ${detail}`, 200)}`;
  });

function endText(view: View, end: SessionEnded, paint: Paint): string {
  const cost = paint.dim(costLine(end));
  const why = reasonText(view, end);
  return why === "" ? cost : `${end.outcome === "cancelled" ? paint.warn(why) : paint.bad(why)}\n${cost}`;
}

const limits = {
  turns: "of turns",
  tokens: "of tokens",
  cost: "of cost",
  time: "of time",
  output_tokens: "of tokens in one reply",
  context_full: "of what the model can read; begin another conversation",
} as const;

function reasonText(view: View, { outcome, limit, error }: SessionEnded): string {
  switch (outcome) {
    case "done":
    case "needs_input":
      return "";
    case "refused":
      return "The model refused to go on.";
    case "limit":
      return `It ended at its limit${limit === undefined ? "" : ` ${limits[limit]}`}.`;
    case "cancelled":
      return "Interrupted.";
    case "failed": {
      const text = error === undefined ? "It failed." : failure(error);
      return text === view.failure ? "" : text;
    }
  }
}

const failure = ({ code, message, hint }: { code: string; message: string; hint: string }): string =>
  [`${plainLine(code, 80)}: ${plain(message).trimEnd()}`, plain(hint).trimEnd()].filter(Boolean).join("\n");
