import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type ApiFixture, failure, startFixture, webhookSecret } from "./apiFixture.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");
const clock = { now: () => now, sleep: async () => {} };
const start = (given: Parameters<typeof startFixture>[0] = {}) => startFixture({ clock, ...given });

const event = { type: "webhook.ci_failure", device_id: "lab/phone", payload: { job: "nightly" } };
const hex = (text: string, secret = webhookSecret) => createHmac("sha256", secret).update(text).digest("hex");
const signed = (body: string, { at = now, secret = webhookSecret } = {}) => {
  const t = Math.floor(at / 1_000);
  return { "x-labwright-signature": `t=${t},v1=${hex(`${t}.${body}`, secret)}` };
};
const send = ({ call }: ApiFixture, raw: string, headers: Record<string, string>) =>
  call("POST", "/events", { token: null, raw, headers });

describe("a signed event", () => {
  it("is published", async () => {
    const fixture = await start();
    const raw = JSON.stringify(event);
    expect(await send(fixture, raw, signed(raw))).toMatchObject({
      status: 202,
      body: { published: true, event_id: 1 },
    });
    expect(fixture.published).toEqual([{ ...event, key: expect.stringMatching(/^webhook:[\da-f]{64}$/) }]);
  });

  it("that comes again is published under the same key", async () => {
    const fixture = await start();
    const raw = JSON.stringify(event);
    await send(fixture, raw, signed(raw));
    expect(await send(fixture, raw, signed(raw))).toMatchObject({ body: { event_id: 1 } });
  });

  it("that is sent again with a new time is one event by its id", async () => {
    const fixture = await start();
    const raw = JSON.stringify({ ...event, id: "nightly-7" });
    await send(fixture, raw, signed(raw));
    const again = await send(fixture, raw, signed(raw, { at: now + 60_000 }));
    expect(again).toMatchObject({ body: { event_id: 1 } });
    const published = { ...event, key: "webhook:nightly-7" };
    expect(fixture.published).toEqual([published, published]);
  });

  it("that someone caught and sends under another id is refused", async () => {
    const fixture = await start();
    const raw = JSON.stringify({ ...event, id: "one" });
    await send(fixture, raw, signed(raw));
    const again = await send(fixture, raw.replace("one", "two"), signed(raw));
    expect(again).toMatchObject({ status: 401, body: failure("SIGNATURE_INVALID", 401) });
    expect(fixture.published).toHaveLength(1);
  });

  const raw = JSON.stringify(event);
  const { "x-labwright-signature": good } = signed(raw);
  it.each([
    ["nothing", {}],
    ["another secret", signed(raw, { secret: "another" })],
    ["a time six minutes ago", signed(raw, { at: now - 360_000 })],
    ["a time six minutes ahead", signed(raw, { at: now + 360_000 })],
    [
      "another time than it was signed with",
      { "x-labwright-signature": good.replace(/^t=\d+/, "t=1767225601") },
    ],
    ["half a signature", { "x-labwright-signature": good.slice(0, -2) }],
    ["no hexadecimal digits", { "x-labwright-signature": `${good.slice(0, -2)}zz` }],
    ["a word", { "x-labwright-signature": "yes" }],
    ["an empty signature of GitHub", { "x-hub-signature-256": "sha256=" }],
    ["GitHub's signature of another body", { "x-hub-signature-256": `sha256=${hex("{}")}` }],
  ])("with %s is refused", async (_what, headers) => {
    const fixture = await start();
    expect(await send(fixture, raw, headers)).toMatchObject({
      status: 401,
      body: failure("SIGNATURE_INVALID", 401),
    });
    expect(fixture.published).toEqual([]);
  });

  it("whose body was changed by a byte is refused", async () => {
    const fixture = await start();
    const answer = await send(fixture, raw.replace("nightly", "nightlx"), signed(raw));
    expect(answer).toMatchObject({ status: 401, body: failure("SIGNATURE_INVALID", 401) });
    expect(fixture.published).toEqual([]);
  });

  it("is refused where no secret is set, with what to set", async () => {
    const fixture = await start({ webhookSecret: undefined });
    const answer = await send(fixture, raw, signed(raw, { secret: "" }));
    expect(answer).toMatchObject({ status: 401, body: failure("SIGNATURE_INVALID", 401) });
    expect(answer.body).toMatchObject({
      error: { hint: expect.stringContaining("LABWRIGHT_SECRET_WEBHOOK") },
    });
  });

  it.each([
    ["a type of the server's own", JSON.stringify({ type: "alert.blackscreen", payload: {} })],
    ["a type that only begins so", JSON.stringify({ type: "webhook.", payload: {} })],
    ["no payload", JSON.stringify({ type: "webhook.a" })],
    ["an id of other characters", JSON.stringify({ ...event, id: "a b" })],
    ["an unknown key", JSON.stringify({ ...event, priority: "critical" })],
    ["no JSON", "{"],
    ["no text", "\u0000"],
  ])("with %s is refused", async (_what, body) => {
    const fixture = await start();
    expect(await send(fixture, body, signed(body))).toMatchObject({
      status: 400,
      body: failure("INVALID_INPUT", 400),
    });
    expect(fixture.published).toEqual([]);
  });

  it("of more than a megabyte is refused in words", async () => {
    const fixture = await start();
    const body = JSON.stringify({ ...event, payload: { log: "x".repeat(2_000_000) } });
    expect(await send(fixture, body, signed(body))).toMatchObject({
      status: 413,
      body: failure("INPUT_TOO_LARGE", 413),
    });
  });

  it("says so when it could not be published", async () => {
    const fixture = await start({ publish: async () => Promise.reject(new Error("the database is gone")) });
    const answer = await send(fixture, raw, signed(raw));
    expect(answer).toMatchObject({ status: 500, body: failure("INTERNAL", 500) });
    expect(fixture.faults).toHaveLength(1);
  });
});

describe("a webhook of GitHub", () => {
  const run = {
    id: 30,
    name: "nightly",
    conclusion: "failure",
    head_branch: "main",
    head_sha: "abc",
    html_url: "https://github.example/run/30",
  };
  const repository = { full_name: "lab/app" };
  const deliver = (fixture: ApiFixture, name: string, body: object, delivery = "d-1") => {
    const raw = JSON.stringify(body);
    return send(fixture, raw, {
      "x-hub-signature-256": `sha256=${hex(raw)}`,
      "x-github-event": name,
      "x-github-delivery": delivery,
    });
  };

  it("of a workflow that failed is a failure of the CI", async () => {
    const fixture = await start();
    const body = { action: "completed", workflow_run: run, repository };
    expect(await deliver(fixture, "workflow_run", body)).toMatchObject({
      status: 202,
      body: { published: true },
    });
    expect(fixture.published).toMatchObject([
      {
        type: "webhook.ci_failure",
        payload: {
          provider: "github",
          repository: "lab/app",
          name: "nightly",
          branch: "main",
          commit: "abc",
          url: "https://github.example/run/30",
        },
      },
    ]);
    expect(await deliver(fixture, "workflow_run", body, "another")).toMatchObject({
      body: { event_id: 1 },
    });
  });

  it("of a suite of checks that failed is one too", async () => {
    const fixture = await start();
    const check_suite = { id: 4, conclusion: "failure", head_branch: null, app: { name: "CI" } };
    await deliver(fixture, "check_suite", { action: "completed", check_suite, repository });
    expect(fixture.published).toMatchObject([
      { type: "webhook.ci_failure", payload: { kind: "check_suite", name: "CI", branch: null } },
    ]);
  });

  it.each([
    [
      "a workflow that passed",
      "workflow_run",
      { action: "completed", workflow_run: { ...run, conclusion: "success" } },
    ],
    [
      "a workflow that has begun",
      "workflow_run",
      { action: "requested", workflow_run: { ...run, conclusion: null } },
    ],
    ["a ping", "ping", { zen: "Design for failure." }],
    ["something else in its name", "workflow_run", { action: "completed" }],
    ["no object", "check_suite", []],
  ])("of %s is taken and not published, with the reason", async (_what, name, body) => {
    const fixture = await start();
    expect(await deliver(fixture, name, body)).toMatchObject({
      status: 202,
      body: { published: false, reason: expect.stringMatching(/\S/) },
    });
    expect(fixture.published).toEqual([]);
  });
});
