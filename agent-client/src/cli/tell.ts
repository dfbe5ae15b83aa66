import type { AgentEvent, SessionEnded } from "../events.ts";
import { jsonLine, plain } from "./plain.ts";
import { createRenderer } from "./render.ts";
import type { Terminal } from "./terminal.ts";

/** Shows a run's events, in order. */
export type Teller = (event: AgentEvent) => void;

/** Shows a person all events as they come. */
export function liveTeller({ out, style }: Terminal): Teller {
  const render = createRenderer(style.out);
  return (event) => out(render(event));
}

/** Writes only the answer of a run that is done to stdout; what led to it, and any other end, to stderr. */
export function answerTeller({ out, err, style }: Terminal): Teller {
  const render = createRenderer(style.err);
  /** The last message. It is the answer if nothing but progress comes before the run is done. */
  let held = "";
  const release = () => {
    if (held !== "") err(`${style.err("dim", held)}\n`);
    held = "";
  };
  const tellEnd = ({ outcome, text }: SessionEnded) => {
    const answer = outcome === "done" ? plain(text).trimEnd() : "";
    if (answer === "") return release();
    out(`${answer}\n`);
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
    else if (event.type !== "progress") release();
    err(render(event));
  };
}

/** Writes each event to stdout as a line of JSON. */
export const jsonTeller =
  ({ out }: Terminal): Teller =>
  (event) =>
    out(jsonLine(event));
