/** Where conversations are begun and go on. */
export const sessions = "/server/agent/sessions";

/** An event of a conversation, as `agent-client/src/events.ts` has them, as far as the page shows it. */
export type TalkEvent = { seq: number; type: string } & {
  [Name in
    | "text"
    | "message"
    | "tool"
    | "reason"
    | "question"
    | "outcome"
    | "code"
    | "kind"
    | "skill"]?: string;
} & {
  options?: string[];
  details?: string[];
  input?: unknown;
  is_error?: boolean;
  error?: { code: string; message: string };
};

/** What a conversation shows, in order. `folded` is read when it is wanted. */
export type Line = { by: "you" | "agent" | "note"; text: string; folded?: string; isBad?: boolean };

/** The `seq` of events jumps by so many where a run died with its process. */
const skippedAfterDeath = 10_000;

/** What was said in front of the events that it started. `isOver`: nothing is under way. `options`: those of an open question. */
export function linesOf(said: readonly string[], events: readonly TalkEvent[]) {
  const lines: Line[] = [];
  let runs = 0;
  let isOver = true;
  let last = 0;
  let options: string[] = [];
  const hear = (text: string) => lines.push({ by: "you", text });
  for (const event of events) {
    if (isOver || event.seq - last >= skippedAfterDeath) {
      options = [];
      for (const text of said.slice(runs, ++runs)) hear(text);
    }
    if (event.type === "handoff") options = event.options ?? [];
    lines.push(...lineOf(event));
    isOver = event.type === "session_ended";
    last = event.seq;
  }
  const waiting = said.slice(runs);
  waiting.forEach(hear);
  return { lines, isOver: isOver && waiting.length === 0, options: waiting.length > 0 ? [] : options };
}

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, undefined, 1));
const quiet = ["cache", "cost", "tool"];

const shown: Readonly<Record<string, (event: TalkEvent) => Omit<Line, "by"> | undefined>> = {
  thinking: ({ text }) => ({ text: "Thinking", folded: text ?? "" }),
  skill_loaded: ({ skill }) => ({ text: `Skill: ${skill}` }),
  tool_call: ({ tool, input }) => ({ text: `Calls ${tool}`, folded: asText(input) }),
  tool_result: ({ tool, text, is_error: isBad = false }) => ({
    text: `${tool} ${isBad ? "failed" : "answered"}`,
    folded: text ?? "",
    isBad,
  }),
  progress: ({ kind = "", text = "" }) => (quiet.includes(kind) ? undefined : { text }),
  approval_required: ({ tool, reason }) => ({ text: `Asks for approval of ${tool}: ${reason}` }),
  error: ({ code, message }) => ({ text: `${code}: ${message}`, isBad: true }),
  session_ended: ({ outcome, error }) => ({
    text: error ? `Ended (${outcome}): ${error.code}: ${error.message}` : `Ended: ${outcome}`,
    isBad: error !== undefined,
  }),
};

function lineOf(event: TalkEvent): Line[] {
  const { type, text = "", question = "", options = [], details = [] } = event;
  if (type === "message") return [{ by: "agent", text }];
  if (type === "handoff") {
    const choices = options.map(
      (option, at) => `${at + 1}. ${[option, details[at]].filter(Boolean).join(": ")}`,
    );
    return [{ by: "agent", text: [question, ...choices].join("\n") }];
  }
  const line = shown[type]?.(event);
  return line ? [{ by: "note", ...line }] : [];
}
