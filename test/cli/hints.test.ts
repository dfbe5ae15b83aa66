import { expect, test } from "vitest";
import { z } from "zod";
import { forTerminal, hintFor } from "#mcp-server/cli/hints.ts";
import { done } from "#mcp-server/cli/run/connection.ts";
import { verdictText } from "#mcp-server/cli/run/verdictText.ts";
import { schemaProblems } from "#mcp-server/domain/schemaProblems.ts";

test("a hint names what a person types, and no tool", async () => {
  expect(forTerminal("Call list_hosts to see the devices.")).toBe(
    "Run labwright list devices to see the devices.",
  );
  expect(forTerminal("No element; dump_ui_elements shows what is there")).toBe(
    "No element; labwright look shows what is there",
  );
  expect(forTerminal("An edge makes one (create_edge).")).toBe("An edge makes one (in the app's file).");
  expect(hintFor({ code: "DEVICE_AMBIGUOUS", hint: "Name one with device_id" })).toContain("--device");
  const error = { code: "NODE_NOT_FOUND", message: "No node.", hint: "Look with dump_ui_elements." };
  await expect(done(Promise.resolve({ ok: false, error }))).rejects.toMatchObject({
    hint: "Look with labwright look.",
  });
  const reason = { code: "ELEMENT_NOT_FOUND", message: 'No "X"; dump_ui_elements shows what is there' };
  const run = { execution_id: "e1", status: "error", reason };
  expect(verdictText({ name: "a", device: undefined }, run)).toContain("labwright look shows what is there");
});

test("what a schema says against a value is in words", () => {
  const schema = z.strictObject({
    retries: z.int().min(1).max(10),
    tags: z.array(z.string()).max(2),
    name: z.string().min(3),
    when: z.enum(["error", "any"]),
    own: z.string().regex(/^a/, "must begin with a"),
    text: z.string(),
  });
  const said = (value: unknown) =>
    schemaProblems(schema.safeParse(value).error?.issues ?? [], schema).map(
      ({ path, message }) => `${path.join(".")} ${message}`,
    );
  expect(said({ retries: "x", tags: "y", name: 5, when: "now", own: "b" })).toEqual([
    "retries must be a number, not text",
    "tags must be a list, not text",
    "name must be text, not a number",
    "when must be one of error, any",
    "own must begin with a",
    "text is missing; it must be text",
  ]);
  const more = said({ retries: 11, tags: ["a", "b", "c"], name: "a", when: "any", own: "a", text: "" });
  expect(more).toEqual([
    "retries must be at most 10",
    "tags must have at most 2 items",
    "name must have at least 3 characters",
  ]);
});
