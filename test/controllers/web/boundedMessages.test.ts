import { expect, it } from "vitest";
import { BoundedMessages } from "#controllers/web/browser/boundedMessages.ts";

const event = (method: string, value: unknown) =>
  JSON.stringify({ method, params: { type: "log", args: [{ value }, { value: "after" }] }, sessionId: "AB" });

/** The messages that come out of these, sent in chunks of so many bytes. */
function pass(messages: readonly string[], chunk: number): unknown[] {
  const bounded = new BoundedMessages();
  const sent = Buffer.from(messages.map((message) => `${message}\0`).join(""));
  const passed: Buffer[] = [];
  for (let at = 0; at < sent.length; at += chunk) passed.push(...bounded.push(sent.subarray(at, at + chunk)));
  const texts = Buffer.concat(passed).toString("utf8").split("\0");
  expect(texts.pop()).toBe("");
  return texts.map((text) => JSON.parse(text));
}

const small = event("Page.frameNavigated", "x".repeat(900_000));
const answer = (size: number, key: string) =>
  JSON.stringify({ id: 7, result: { [key]: '","sessionId":"no"}'.repeat(size / 20) }, sessionId: "AB" });

it.each([
  1_000, 65_536, 100_000_000,
])("messages within their limits pass as they are, in chunks of %i", (chunk) => {
  const picture = answer(40_000_000, "data");
  const messages = ['{"id":1,"result":{}}', small, picture, '{"method":"a","params":{}}'];
  expect(pass(messages, chunk)).toEqual(messages.map((message) => JSON.parse(message)));
});

it.each([
  "l",
  "é",
  "\u{1f600}",
  '\\"',
  "\\",
  "\n",
  "\u2028",
  "\ud800",
  "\u0001",
])("a long line of a console is cut between two of %j, wherever a chunk ends", (character) => {
  for (const chunk of [65_536, 65_537, 65_538, 65_539, 65_541]) {
    const long = event("Runtime.consoleAPICalled", character.repeat(200_000));
    const [first, cut, last] = pass([small, long, small], chunk);
    expect([first, last]).toEqual([JSON.parse(small), JSON.parse(small)]);
    const value = Object(cut).params.args[0].value;
    expect(value).toMatch(/ bytes more$/);
    const kept = value.replace(/… \d+ bytes more$/, "");
    expect(kept.replaceAll(character, "").length).toBeLessThan(2);
    expect(kept.length).toBeGreaterThan(10_000);
    expect(cut).toEqual({
      method: "Runtime.consoleAPICalled",
      params: { type: "log", args: [{ value }, { value: "after" }] },
      sessionId: "AB",
    });
  }
});

it("a reply that is too long becomes an error of its own request and session", () => {
  const long = answer(40_000_000, "value");
  expect(pass([long, small], 65_536)).toEqual([
    {
      id: 7,
      error: { code: -32_000, message: `the answer has ${long.length} bytes, which is too much to read` },
      sessionId: "AB",
    },
    JSON.parse(small),
  ]);
});

it("an event of endless short parts does not pass, and the next one does", () => {
  const parts = Array.from({ length: 200_000 }, () => ["a"]);
  expect(pass([event("Runtime.consoleAPICalled", parts), small], 65_536)).toEqual([JSON.parse(small)]);
});
