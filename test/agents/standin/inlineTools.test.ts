import { expect, test } from "vitest";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import { type Context, script } from "../../fixtures/messagesApi/script.ts";
import { openStandin, tool } from "./client.ts";

test("tools that the SDK adds in a conversation are there, and the cache goes on", async () => {
  const offered: Context["tools"][] = [];
  const steps = [calls("load_skill"), calls("press_key", { key: "HOME" }), says("Done."), says("Gone.")];
  const respond = script(steps);
  const { api, client } = await openStandin({
    respond(request, context) {
      offered.push(context.tools);
      return respond(request, context);
    },
  });
  const pressed: unknown[] = [];
  const press = {
    ...tool("press_key"),
    parse: (input: unknown) => input,
    run: (input: unknown) => {
      pressed.push(input);
      return "pressed";
    },
  };
  const runner = client.beta.messages.toolRunner({
    model: "claude-opus-5-5",
    max_tokens: 100,
    thread: false,
    stream: true,
    betas: ["inline-tools-2026-09-15"],
    cache_control: { type: "ephemeral" },
    system: `Be brief.${" go".repeat(1_200)}`,
    messages: [{ role: "user", content: "Press HOME" }],
    tools: [
      {
        ...tool("load_skill"),
        parse: (input: unknown) => input,
        run: () => {
          runner.addTools(press);
          return "loaded";
        },
      },
    ],
  });
  await runner.runUntilDone();
  expect(pressed).toEqual([{ key: "HOME" }]);
  expect(offered).toEqual([["load_skill"], ["load_skill", "press_key"], ["load_skill", "press_key"]]);
  expect(api.requests.map(({ body }) => body.tools?.map(({ name }) => name))).toEqual([
    ["load_skill"],
    ["load_skill"],
    ["load_skill"],
  ]);
  const [first, second, third] = api.requests.map(({ usage }) => usage);
  expect(second?.cache_read_input_tokens).toBe(first?.cache_creation_input_tokens);
  expect(second?.input_tokens).toBe(0);
  expect(third?.cache_read_input_tokens).toBe(
    (second?.cache_read_input_tokens ?? 0) + (second?.cache_creation_input_tokens ?? 0),
  );
  await api.close();
});

test("a tool that is removed is not offered any more", async () => {
  const { api, client } = await openStandin({
    respond: (_, { tools }) => says(`I have: ${tools.join(", ")}.`),
  });
  const message = await client.beta.messages.create({
    model: "claude-opus-5-5",
    max_tokens: 100,
    betas: ["inline-tools-2026-09-15"],
    tools: [tool("press_key"), tool("tap")],
    messages: [
      { role: "user", content: "What do you have?" },
      {
        role: "system",
        content: [{ type: "tool_removal", tool: { type: "tool_reference", name: "tap" } }],
      },
    ],
  });
  expect(message.content.at(-1)).toMatchObject({ text: "I have: press_key." });
  await api.close();
});
