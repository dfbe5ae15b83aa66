import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { says } from "../../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../../fixtures/messagesApi/server.ts";
import { ask, clientOf, model, newestVersion, postTo } from "./client.ts";

let api: MessagesApi;
beforeAll(async () => {
  api = await startMessagesApi({ respond: () => says("ok") });
});
afterAll(() => api.close());

const post = (body: unknown, headers?: Record<string, string>) => postTo(api, body, headers);
const plain = ask("go");

describe("headers", () => {
  test("name a version of the API; the older one takes sampling parameters", async () => {
    expect((await post(plain, { "anthropic-version": "" })).error).toContain("anthropic-version");
    expect((await post(plain, { "anthropic-version": "2020-01-01" })).error).toContain(
      "is not a valid version",
    );
    expect((await post({ ...plain, temperature: 1 }, { "anthropic-version": "2023-06-01" })).status).toBe(
      200,
    );
  });

  test("carry the key either way, and a wrong one is refused", async () => {
    expect((await post(plain, { "x-api-key": "", authorization: `Bearer ${testKey}` })).status).toBe(200);
    const wrong = clientOf(api.url, { apiKey: "wrong" });
    const failure = wrong.beta.messages.create({
      model,
      max_tokens: 1,
      messages: [{ role: "user", content: "go" }],
    });
    await expect(failure).rejects.toThrow(Anthropic.AuthenticationError);
    expect(await post(plain, { "x-api-key": "wrong" })).toMatchObject({ status: 401 });
  });

  test("are kept for the tests, without the key", async () => {
    await post(plain, { "anthropic-beta": "a-beta" });
    const seen = api.requests.at(-1);
    expect(seen?.headers).toMatchObject({ "anthropic-version": newestVersion, "anthropic-beta": "a-beta" });
    expect(JSON.stringify(seen)).not.toContain(testKey);
  });
});

test("a refused request is kept with what was wrong, and reaches no script", async () => {
  const before = api.requests.length;
  await post({ ...plain, max_tokens: -1 });
  expect(api.refused.at(-1)).toMatchObject({ status: 400, message: expect.stringContaining("max_tokens") });
  expect(api.requests).toHaveLength(before);
});

test("a body of more than 32 MB is refused as too large", async () => {
  const { status, error } = await post(ask("a".repeat(33 * 1024 * 1024)));
  expect(error).toContain("request_too_large");
  expect(status).toBe(413);
});

describe("the other routes", () => {
  test("list the models, and give one", async () => {
    const client = clientOf(api.url);
    const listed: string[] = [];
    for await (const { id } of client.models.list()) listed.push(id);
    expect(listed).toContain(model);
    expect(await client.models.retrieve(model)).toMatchObject({ type: "model", id: model });
    await expect(client.models.retrieve("claude-0")).rejects.toThrow(Anthropic.NotFoundError);
  });

  test("an unknown model is not found", async () => {
    const failure = clientOf(api.url).beta.messages.create({
      model: "claude-0",
      max_tokens: 1,
      messages: [{ role: "user", content: "go" }],
    });
    await expect(failure).rejects.toMatchObject({ status: 404, type: "not_found_error" });
  });

  test("HEAD of the root says that the server is there, anything else is not found", async () => {
    expect((await fetch(api.url, { method: "HEAD" })).status).toBe(200);
    const headers = { "x-api-key": testKey };
    expect((await fetch(`${api.url}/v1/complete`, { method: "POST", headers })).status).toBe(404);
    expect((await fetch(`${api.url}/v1/files`, { headers })).status).toBe(404);
  });
});
