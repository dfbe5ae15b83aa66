import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { says } from "../../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { model, pngOf, postTo, tool } from "./client.ts";

let api: MessagesApi;
beforeAll(async () => {
  api = await startMessagesApi({ respond: () => says("ok"), contextTokens: 5_000 });
});
afterAll(() => api.close());

const inlineTools = { "anthropic-beta": "inline-tools-2026-09-15" };
const go = { role: "user", content: "go" };
const plain = { model, max_tokens: 10, messages: [go] };
const cached = { cache_control: { type: "ephemeral" } };
const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
const use = (id: string) => ({ type: "tool_use", id, name: "press_key", input: {} });
const result = (id: string, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "ok",
  ...more,
});
const picture = (media_type: string, data: string) => ({
  type: "image",
  source: { type: "base64", media_type, data },
});
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const message = (role: string, content: unknown) => ({ role, content });
const messages = (...list: unknown[]) => ({ ...plain, messages: list });
/** A call of the browser's toolset and its result. */
const members = (more: object) => ({
  ...messages(
    go,
    message("assistant", [{ ...use("one"), toolset_name: "browser" }]),
    message("user", [result("one", more)]),
  ),
  tools: [{ type: "browser_toolset_20260801" }],
});
const addition = (definition: object) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition },
});

const post = (body: unknown, headers?: Record<string, string>) => postTo(api, body, headers);

describe("is refused", () => {
  test.each<[string, unknown, string]>([
    ["a body that is no JSON", "{", "not valid JSON"],
    ["a body that is no object", "[]", "body"],
    ["no model", { ...plain, model: undefined }, "model: Field required"],
    [
      "a toolset that the model does not take",
      { ...plain, model: "claude-haiku-4-5", tools: [{ type: "browser_toolset_20260801" }] },
      "browser_toolset_20260801 is not supported on this model",
    ],
    [
      "a tool with the name of a toolset",
      { ...plain, tools: [tool("browser"), { type: "browser_toolset_20260801" }] },
      "Tool names must be unique",
    ],
    ["a member's result without its toolset", members({}), "toolset_name does not match"],
    [
      "a browser's result without its state",
      members({ toolset_name: "browser" }),
      "needs a browser_state block",
    ],
    [
      "a picture in a member's failure",
      members({ toolset_name: "browser", is_error: true, content: [picture("image/png", png)] }),
      "must be type",
    ],
    ["no max_tokens", { ...plain, max_tokens: undefined }, "max_tokens: Field required"],
    ["max_tokens of 0", { ...plain, max_tokens: 0 }, "max_tokens"],
    ["max_tokens as a text", { ...plain, max_tokens: "10" }, "max_tokens"],
    ["no messages", { ...plain, messages: undefined }, "messages: Field required"],
    ["an empty list of messages", messages(), "at least one message is required"],
    ["an unknown field", { ...plain, tempreature: 1 }, "tempreature: Extra inputs are not permitted"],
    ["a message thread", { ...plain, thread: { type: "create" } }, "thread: Extra inputs are not permitted"],
    ["a message without a role", messages({ content: "go" }), "messages.0.role: Field required"],
    ["an unknown role", messages(message("tool", "go")), "messages.0.role"],
    [
      "a block without its text",
      messages(message("user", [{ type: "text" }])),
      "messages.0.content.0.text: Field required",
    ],
    [
      "a block of an unknown type",
      messages(message("user", [{ type: "sound" }])),
      "messages.0.content.0.type",
    ],
    [
      "a conversation that begins with the assistant",
      messages(message("assistant", "hm"), go),
      "first message must use the user role",
    ],
    [
      "a conversation that ends with the assistant",
      messages(go, message("assistant", "hm")),
      "does not support assistant message prefill",
    ],
    ["an empty text", messages(message("user", "")), "text content blocks must be non-empty"],
    ["a text of blanks", messages(message("user", " \n")), "non-whitespace"],
    ["an empty message", messages(message("user", [])), "non-empty content"],
    ["an empty text of the system", { ...plain, system: [text("")] }, "system.0"],
    ["a call by the user", messages(message("user", [use("a")])), "messages.0.content.0.type"],
    [
      "a result by the assistant",
      messages(go, message("assistant", [result("a")]), go),
      "messages.1.content.0.type",
    ],
    ["temperature", { ...plain, temperature: 1 }, "temperature"],
    ["top_p", { ...plain, top_p: 1 }, "top_p"],
    ["top_k", { ...plain, top_k: 1 }, "top_k"],
    [
      "a budget of thinking over max_tokens",
      { ...plain, max_tokens: 2_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
      "budget_tokens",
    ],
    ["a prompt that is too long", messages(message("user", "go ".repeat(6_000))), "prompt is too long"],
  ])("%s", async (_, body, words) => {
    const { status, error } = await post(body);
    expect(error).toContain(words);
    expect(error).toContain("invalid_request_error");
    expect(status).toBe(400);
  });
});

describe("of tools is refused", () => {
  const withTools = (...tools: unknown[]) => ({ ...plain, tools });
  test.each<[string, unknown, string]>([
    ["a name with a dot", withTools(tool("a.b")), "tools.0.name"],
    ["a name of 129 letters", withTools(tool("a".repeat(129))), "tools.0.name"],
    ["the same name twice", withTools(tool("a"), tool("a")), "Tool names must be unique"],
    ["no schema", withTools({ name: "a" }), "tools.0.input_schema: Field required"],
    [
      "a schema of another type",
      withTools({ name: "a", input_schema: { type: "array" } }),
      "tools.0.input_schema.type",
    ],
    [
      "a union as its schema",
      withTools({ name: "a", input_schema: { type: "object", oneOf: [] } }),
      "oneOf, allOf, or anyOf",
    ],
    [
      "a property's name with a blank",
      withTools({ name: "a", input_schema: { type: "object", properties: { "b c": {} } } }),
      "Property keys",
    ],
    ["a tool of the API's own", withTools({ type: "bash_20250124", name: "bash" }), "tools.0"],
    ["a choice without tools", { ...plain, tool_choice: { type: "any" } }, "tool_choice"],
    [
      "the choice of an unknown tool",
      { ...withTools(tool("a")), tool_choice: { type: "tool", name: "b" } },
      "Tool 'b' not found",
    ],
  ])("%s", async (_, body, words) => {
    const { status, error } = await post(body);
    expect(error).toContain(words);
    expect(status).toBe(400);
  });
});

describe("of calls and results is refused", () => {
  const called = message("assistant", [use("a"), use("b")]);
  test.each<[string, unknown, string]>([
    [
      "a call without a result",
      messages(go, called, message("user", [result("a")])),
      "without `tool_result` blocks immediately after: b",
    ],
    [
      "a call that the next message does not answer",
      messages(go, called, go, message("user", [result("a"), result("b")])),
      "immediately after: a, b",
    ],
    ["a call at the end", messages(go, called), "prefill"],
    [
      "a result that answers nothing",
      messages(go, called, message("user", [result("a"), result("b"), result("c")])),
      "unexpected `tool_use_id` found in `tool_result` blocks: c",
    ],
    ["a result in the first message", messages(message("user", [result("a")])), "unexpected `tool_use_id`"],
    [
      "a result two turns later",
      messages(
        go,
        called,
        message("user", [result("a"), result("b")]),
        message("assistant", "ok"),
        message("user", [result("a")]),
      ),
      "unexpected `tool_use_id`",
    ],
    [
      "two results of one call",
      messages(go, called, message("user", [result("a"), result("b"), result("a")])),
      "Found multiple `tool_result` blocks with id: a",
    ],
    [
      "a text before a result",
      messages(go, called, message("user", [result("a"), text("and"), result("b")])),
      "immediately after: b",
    ],
    [
      "the same id twice",
      messages(go, message("assistant", [use("a"), use("a")]), message("user", [result("a")])),
      "ids must be unique",
    ],
    ["an id with a blank", messages(go, message("assistant", [use("a b")]), go), "messages.1.content.0.id"],
    [
      "an input that is no object",
      messages(go, message("assistant", [{ ...use("a"), input: "{}" }]), go),
      "messages.1.content.0.input",
    ],
    [
      "an empty error",
      messages(
        go,
        message("assistant", [use("a")]),
        message("user", [result("a", { is_error: true, content: "" })]),
      ),
      "content cannot be empty",
    ],
    [
      "an empty text in a result",
      messages(go, message("assistant", [use("a")]), message("user", [result("a", { content: [text("")] })])),
      "non-empty",
    ],
  ])("%s", async (_, body, words) => {
    const { status, error } = await post(body);
    expect(error).toContain(words);
    expect(status).toBe(400);
  });

  test("nothing, when consecutive messages of one role answer together", async () => {
    const body = messages(
      go,
      message("assistant", [use("a")]),
      message("assistant", [use("b")]),
      message("user", [result("b")]),
      message("user", [result("a"), text("and go on")]),
    );
    expect(await post(body)).toEqual({ status: 200, error: "" });
  });
});

describe("of pictures is refused", () => {
  test.each<[string, unknown, string]>([
    ["another media type", picture("image/bmp", png), "media_type"],
    ["what is no base64", picture("image/png", "not base64!"), "invalid base64"],
    ["data with its prefix", picture("image/png", `data:image/png;base64,${png}`), "invalid base64"],
    ["a file of another type", picture("image/jpeg", png), "does not appear to be one"],
    [
      "more than 10 MB",
      picture("image/png", png.slice(0, 40) + "A".repeat(10 * 1024 * 1024)),
      "exceeds 10 MB",
    ],
    ["a side of more than 8,000 pixels", picture("image/png", pngOf(100, 8_001)), "size: 8000 pixels"],
    [
      "one that is larger than what the model sees, when it says so",
      {
        ...picture("image/png", pngOf(8_000, 100)),
        transformations: { oversized_image: "error" },
      },
      "would be downsized to",
    ],
  ])("%s", async (_, block, words) => {
    expect((await post(messages(message("user", [block])))).error).toContain(words);
    const inResult = messages(
      go,
      message("assistant", [use("a")]),
      message("user", [result("a", { content: [block] })]),
    );
    expect((await post(inResult)).error).toContain(words);
  });

  const many = (count: number, side: number) =>
    messages(
      message(
        "user",
        Array.from({ length: count }, () => picture("image/png", pngOf(side, 10))),
      ),
    );

  test("more than 2,000 pixels a side where there are more than twenty, by a code that is stable", async () => {
    expect((await post(many(20, 2_001))).status).toBe(200);
    const { status, error } = await post(many(21, 2_001));
    expect(status).toBe(400);
    const { details } = JSON.parse(error).error;
    expect(details).toMatchObject({
      error_code: "image_dimensions_too_large",
      max_side_length_pixels: 2_000,
    });
    expect(details.paths).toHaveLength(21);
    expect((await post(many(21, 2_000))).status).toBe(200);
  });

  test("more than the model takes in one request", async () => {
    expect((await post({ ...many(101, 10), model: "claude-haiku-4-5" })).error).toContain(
      "101 > 100 maximum",
    );
    expect((await post(many(101, 10))).status).toBe(200);
    expect((await post(many(601, 10))).error).toContain("601 > 600 maximum");
  });

  test("nothing of a PNG", async () => {
    expect(await post(messages(message("user", [picture("image/png", png)])))).toEqual({
      status: 200,
      error: "",
    });
  });
});

describe("cache breakpoints", () => {
  const system = (count: number) => Array.from({ length: count }, () => text("be brief", cached));

  test("are at most four, the automatic one counted", async () => {
    expect((await post({ ...plain, system: system(4) })).status).toBe(200);
    expect((await post({ ...plain, system: system(3), ...cached })).status).toBe(200);
    expect((await post({ ...plain, system: system(4), ...cached })).error).toContain("Found 5");
    const spread = {
      ...plain,
      system: system(2),
      tools: [
        { ...tool("a"), ...cached },
        { ...tool("b"), ...cached },
      ],
    };
    expect((await post({ ...spread, messages: [message("user", [text("go", cached)])] })).error).toContain(
      "Found 5",
    );
  });

  test("of an hour come before those of five minutes", async () => {
    const hour = text("be brief", { cache_control: { type: "ephemeral", ttl: "1h" } });
    expect((await post({ ...plain, system: [hour, ...system(1)], ...cached })).status).toBe(200);
    expect((await post({ ...plain, system: [...system(1), hour] })).error).toContain("must not come after");
  });

  test("have a life that the API knows", async () => {
    const body = {
      ...plain,
      system: [text("be brief", { cache_control: { type: "ephemeral", ttl: "1d" } })],
    };
    expect((await post(body)).error).toContain("system.0.cache_control.ttl");
  });
});

describe("a system message inside of a conversation", () => {
  const note = message("system", "The device is locked.");
  const added = message("system", [addition(tool("tap"))]);

  test("is taken after a user's message by models that can", async () => {
    expect((await post(messages(go, note))).status).toBe(200);
    expect((await post(messages(go, note, message("assistant", "ok"), go))).status).toBe(200);
    const { error } = await post({ ...messages(go, note), model: "claude-sonnet-5" });
    expect(error).toContain("role 'system' is not supported on this model");
  });

  test.each<[string, unknown, string]>([
    ["at the beginning", messages(note, go), "first message"],
    ["after the assistant", messages(go, message("assistant", "ok"), note, go), "must follow a user message"],
    ["before a user's message", messages(go, note, go), "must be last or precede"],
    ["twice in a row", messages(go, note, note), "must be last or precede"],
    [
      "between a call and its result",
      messages(go, message("assistant", [use("a")]), note, message("user", [result("a")])),
      "immediately after: a",
    ],
  ])("is refused %s", async (_, body, words) => {
    expect((await post(body)).error).toContain(words);
  });

  test("adds and removes tools only with the beta, and only ones that are known", async () => {
    expect((await post(messages(go, added))).error).toContain("requires the inline-tools-2026-09-15 beta");
    expect((await post(messages(go, added), inlineTools)).status).toBe(200);
    const removed = message("system", [
      { type: "tool_removal", tool: { type: "tool_reference", name: "tap" } },
    ]);
    expect((await post(messages(go, removed), inlineTools)).error).toContain("unknown tool 'tap'");
    expect((await post({ ...messages(go, removed), tools: [tool("tap")] }, inlineTools)).status).toBe(200);
    expect((await post({ ...messages(go, removed), tools: [tool("tap")] })).error).toContain("beta");
    const later = messages(go, added, message("assistant", "ok"), go, removed);
    expect((await post(later, inlineTools)).status).toBe(200);
    const odd = message("system", [addition({ name: "a", input_schema: { type: "object", anyOf: [] } })]);
    expect((await post(messages(go, odd), inlineTools)).error).toContain("anyOf");
  });
});
