import type { AgentEvent, AgentEventBody, SessionEnded } from "../events.ts";
import { type Paint, paintOf } from "./paint.ts";
import { jsonLine, plain } from "./plain.ts";
import { emptyView, render } from "./render.ts";
import type { Terminal } from "./terminal.ts";

/** Shows a run's events, in order. */
export type Teller = (event: AgentEvent) => void;

/** To a person, as they come. */
export function liveTeller({ out, hasColours }: Terminal): Teller {
  let view = emptyView;
  const paint = paintOf(hasColours.out);
  return (event) => {
    const shown = render(view, event, paint);
    view = shown.view;
    if (shown.text !== "") out(shown.text);
  };
}

/** The answer of a run that is done on stdout, alone; what led to it, and any other end, on stderr. */
export function answerTeller({ out, err, hasColours }: Terminal): Teller {
  let held = "";
  let view = emptyView;
  const paint: Paint = paintOf(hasColours.err);
  /** What was said before something else was done is no answer. */
  const release = () => {
    if (held !== "") err(`${paint.dim(held)}\n`);
    held = "";
  };
  const tellEnd = ({ outcome, text }: SessionEnded) => {
    const answer = plain(text).trimEnd();
    if (outcome !== "done") release();
    else if (answer !== "") out(`${answer}\n`);
    held = "";
  };
  return (event) => {
    if (event.type === "message") {
      if (event.partial) return;
      release();
      held = plain(event.text).trimEnd();
      return;
    }
    if (event.type === "session_ended") tellEnd(event);
    else if (!isAside(event)) release();
    const shown = render(view, event, paint);
    view = shown.view;
    err(shown.text);
  };
}

/** What may be told between an answer and its end. */
const isAside = (event: AgentEventBody): boolean => event.type === "progress";

/** Each as JSON in a line on stdout. */
export const jsonTeller =
  ({ out }: Terminal): Teller =>
  (event) =>
    out(jsonLine(event));
