import { expect, test } from "vitest";
import type { Message } from "#agent-client/loop/history.ts";
import { longFrom, shortened } from "#agent-client/loop/shorten.ts";
import { factsOf } from "#agent-client/model/facts.ts";

const facts = factsOf("gateway-model");
const reads = new Set(["look"]);

const turn = (at: number, name: string, text: string): Message[] => [
  { role: "user", content: `Request ${at}` },
  { role: "assistant", content: [{ type: "tool_use", id: `call-${at}`, name, input: { at } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: `call-${at}`, content: text }] },
  { role: "assistant", content: `Answer ${at}` },
];
const textsOf = ([notes]: readonly Message[] = []): string[] =>
  notes?.role === "user" && Array.isArray(notes.content)
    ? notes.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
    : [];

test("a history is reported in lines: what was said, and what was done with its ids; what was read has left", () => {
  const history = [
    ...turn(1, "act", `${"done ".repeat(400)}\nexecution_id: run-1`),
    ...turn(2, "look", "a screen ".repeat(4_000)),
    { role: "user" as const, content: "And now?" },
  ];
  const fewer = shortened(history, { facts, reads });
  const [heading, ...lines] = textsOf(fewer);
  expect(heading).toContain("look again where you need one");
  expect(lines.map((line) => line.slice(0, 24))).toEqual([
    "User: Request 1",
    'act {"at":1}: "done done',
    'You: "Answer 1"',
    "User: Request 2",
    'You: "Answer 2"',
  ]);
  expect(lines[1]).toMatch(/execution_id: run-1$/);
  expect(fewer?.slice(1)).toEqual([{ role: "user", content: "And now?" }]);
});

test("of very many lines the oldest leave, those that name an id last; what the user said stays", () => {
  const many = Array.from({ length: 400 }, (_, at) =>
    turn(at, "act", at < 20 ? `session_id: lease-${at}` : "a result of some words ".repeat(20)),
  ).flat();
  const lines = textsOf(shortened([...many, { role: "user", content: "On" }], { facts, reads })).slice(1);
  const letters = lines.join("").length;
  expect(lines.filter((line) => line.startsWith("User: "))).toHaveLength(400);
  expect(lines[0]).toMatch(/^\(\d+ lines left out\)$/);
  expect(lines.filter((line) => line.includes("lease-"))).toHaveLength(20);
  expect(lines.filter((line) => line.includes("a result of"))).not.toHaveLength(0);
  expect(lines.at(-1)).toBe('You: "Answer 399"');
  // A quarter of what the model is given, at three letters a token.
  expect(letters).toBeLessThan(0.26 * 3 * longFrom(facts));
});

test("what was shortened before is reported again as it was, a summary in place of the one before", () => {
  const act = () => turn(1, "act", "well ".repeat(3_000));
  const first = shortened([...act(), ...act(), { role: "user", content: "On" }], {
    facts,
    reads,
    summary: "It went well.",
  });
  const again = shortened([...(first ?? []), ...turn(2, "act", "well ".repeat(9_000)), ...act()], {
    facts,
    reads,
    summary: "It went on.",
  });
  const lines = textsOf(again);
  expect(lines.filter((line) => line.startsWith("Summary: "))).toEqual(["Summary: It went on."]);
  expect(lines.filter((line) => line === "User: Request 1")).toHaveLength(3);
  expect(lines.filter((line) => line === "User: On")).toHaveLength(1);
});

test("what cannot become much shorter stays as it is; thinking leaves with what it was thought after", () => {
  expect(
    shortened([{ role: "user", content: "my own words ".repeat(900) }], { facts, reads }),
  ).toBeUndefined();
  const thought: Message[] = [
    ...turn(1, "look", "a screen ".repeat(4_000)),
    { role: "user", content: "Press" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "HOME.", signature: "s" },
        { type: "tool_use", id: "call-2", name: "look", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call-2", content: "seen" }] },
  ];
  const fewer = shortened(thought, { facts, reads }) ?? [];
  expect(JSON.stringify(fewer)).not.toContain("HOME.");
  expect(fewer.slice(1).map(({ role }) => role)).toEqual(["assistant", "user"]);
  expect(JSON.stringify(fewer.at(-1))).toContain("seen");
});
