import { styleText } from "node:util";
import { jsonLine, plainLine } from "@labwright/agent-client/cli";
import { expect, it, test } from "vitest";
import { plain } from "#agent-client/cli/plain.ts";
import { costLine, createRenderer } from "#agent-client/cli/render.ts";
import type { Style } from "#agent-client/cli/terminal.ts";
import type { AgentEventBody, SessionEnded } from "#agent-client/events.ts";
import { noUsage } from "../../fixtures/fakeConversations.ts";

const uncoloured: Style = (_, text) => text;
const coloured: Style = (format, text) => styleText(format, text, { validateStream: false });

/** What these events leave on the screen. */
const shown = (bodies: readonly AgentEventBody[], style = uncoloured): string =>
  bodies.map(createRenderer(style)).join("");

const end = (part: Partial<SessionEnded> = {}): SessionEnded => ({
  ...{ type: "session_ended", outcome: "done", text: "", turns: 2, duration_ms: 61_000, usage: noUsage },
  ...part,
});
const piece = (text: string): AgentEventBody => ({ type: "message", text, partial: true });
const whole = (text: string): AgentEventBody => ({ type: "message", text });
const hostile = "\u001b[2J\u001b]52;c;cm0=\u0007\u009b31m\u0007\b\u202ea\u0000b\r\nc\td";
const harmless = "ab\nc\td";

it("writes an answer anew that was cut off and begun again", () => {
  expect(shown([piece("There are th"), piece("There "), whole("There are two.")])).toBe(
    "There are thThere \nThere are two.\n",
  );
});

it("begins a line for what comes in the middle of an answer, and does not repeat the answer", () => {
  const note: AgentEventBody = { type: "progress", kind: "cost", text: "$0.01" };
  expect(shown([piece("There"), note, whole("There"), whole("Next")])).toBe("There\n$0.01\nNext\n");
});

it("ends a line that an interrupted answer left open", () => {
  expect(shown([piece("There are"), end({ outcome: "cancelled" })])).toBe(
    "There are\nInterrupted.\n2 turns · 61.0 s\n",
  );
});

it.each<[AgentEventBody, string]>([
  [
    {
      type: "tool_result",
      tool_use_id: "a",
      tool: "t",
      is_error: false,
      text: "x",
      images: 2,
      duration_ms: 5,
    },
    "← t 5 ms ok, 2 pictures\n",
  ],
  [{ type: "progress", kind: "tool", text: "half" }, "  … half\n"],
  [{ type: "thinking", text: "Hm.\n" }, "Hm.\n"],
  [{ type: "error", code: "MODEL_FAILED", message: "Gone.", hint: "" }, "MODEL_FAILED: Gone.\n"],
  [{ type: "handoff", question: "Which?", options: [] }, "Which?\n"],
])("shows %j", (body, text) => {
  expect(shown([body])).toBe(text);
});

it("reports a failure once that was reported before it ended the run", () => {
  const error = { code: "MODEL_FAILED", message: "Gone.", hint: "Later." };
  expect(shown([{ type: "error", ...error }, end({ outcome: "failed", error })])).toBe(
    "MODEL_FAILED: Gone.\nLater.\n2 turns · 61.0 s\n",
  );
});

it("keeps what others wrote from steering the terminal, wherever it comes", () => {
  const input = { [hostile]: hostile };
  const bodies: AgentEventBody[] = [
    piece(hostile),
    whole(hostile),
    { type: "thinking", text: hostile },
    {
      type: "skill_loaded",
      skill: hostile,
      version: "1.0.0",
      tools: [hostile],
      chosen_by: "user",
      text: hostile,
    },
    { type: "tool_call", tool_use_id: "a", tool: hostile, input },
    {
      type: "tool_result",
      tool_use_id: "a",
      tool: hostile,
      is_error: true,
      text: hostile,
      images: 0,
      duration_ms: 1,
    },
    { type: "progress", kind: "tool", text: hostile },
    {
      type: "approval_required",
      approval_id: "a",
      tool: hostile,
      input,
      reason: hostile,
      expires_at: hostile,
    },
    { type: "handoff", question: hostile, options: [hostile] },
    { type: "error", code: hostile, message: hostile, hint: hostile },
    end({ outcome: "failed", error: { code: hostile, message: hostile, hint: hostile } }),
  ];
  for (const body of bodies) expect(shown([body]), body.type).toMatch(/^(?:\P{Cc}|[\n\t])*$/u);
  for (const body of bodies) expect(shown([body]), body.type).not.toContain("\u202e");
});

it("hides nothing of what is to be approved", () => {
  const input = { script: `a${" ".repeat(300)}${"x".repeat(5_000)}\u202e; rm -rf /`, confirm: true };
  const approval = { approval_id: "a", tool: "t", reason: "r", expires_at: "2026-11-22T12:00:00.000Z" };
  const text = shown([{ type: "approval_required", ...approval, input }]);
  expect(text).toContain("x\\u202e; rm -rf /");
  expect(text).toContain("confirm=true");
});

it("is without a single escape where there are no colours, and the same text where there are", () => {
  const bodies: AgentEventBody[] = [
    { type: "tool_call", tool_use_id: "a", tool: "t", input: {} },
    { type: "progress", kind: "cache", text: "[CACHE] Read 9 tokens" },
    end({ outcome: "limit", limit: "turns" }),
  ];
  expect(shown(bodies, coloured)).toContain("\u001b[2m[CACHE] Read 9 tokens\u001b[22m");
  expect(plain(shown(bodies, coloured))).toBe(shown(bodies));
});

test("plain text keeps words, lines and tabs, and loses the rest", () => {
  expect(plain(hostile)).toBe(harmless);
  expect(plain("\u001b") + plain("[31m")).toBe("[31m");
  expect(plain("a\rb")).toBe("a\nb");
  expect(plainLine(`a\n\n b${"c".repeat(50)}`, 8)).toBe("a bcccc…");
  expect(plainLine("😀😀😀", 2)).toBe("😀…");
});

test("a line of JSON says the same in letters that a terminal shows", () => {
  const line = jsonLine({ text: hostile });
  expect(line).toMatch(/^[ -~\t]*\n$/);
  expect(JSON.parse(line)).toEqual({ text: hostile });
});

test("arguments, times and money are short", () => {
  const call = (input: Record<string, unknown>) =>
    shown([{ type: "tool_call", tool_use_id: "a", tool: "t", input }]);
  expect(call({ device_id: "browser", confirm: true })).toBe('→ t(device_id="browser", confirm=true)\n');
  expect(Array.from(call({ a: "x".repeat(90), b: "y".repeat(90) }))).toHaveLength(110 + "→ t()\n".length);
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 1_000,
    cache_read_input_tokens: 0,
  };
  expect(costLine({ turns: 1, duration_ms: 999, usage, cost_usd: 0.01, saved_usd: -0.002 })).toBe(
    "1 turn · 999 ms · 1,010 tokens in (0 from the cache), 5 out · $0.0100",
  );
  expect(costLine({ turns: 2, usage, cost_usd: 1.5, saved_usd: 0.25 })).toMatch(
    / · \$1\.5000, saved \$0\.2500 by the cache$/,
  );
  expect(costLine({ turns: 2, usage })).toContain("price of this model unknown");
  expect(costLine({ turns: 0, usage: noUsage })).toBe("0 turns");
});
