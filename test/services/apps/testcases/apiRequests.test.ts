import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiTests, type Given } from "./apiBench.ts";
import { chain, runSaved, sees, testcase } from "./testcaseBench.ts";

const { bench, folder, answering, json, raw, ask, run, passes } = apiTests();

describe("an api_request", () => {
  it("sends secrets, reads JSON into data, and hides what comes back of them", async () => {
    const seen: string[] = [];
    const url = await answering((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen.push(`${request.method} ${request.headers.authorization} ${Buffer.concat(chunks).toString()}`);
        response.writeHead(201, { "content-type": "application/json" });
        response.end(JSON.stringify({ count: 2, echo: request.headers.authorization }));
      });
    });
    const make = {
      ...{ id: "make", type: "api_request", method: "POST", url: "{{base}}/things" },
      headers: { authorization: "Bearer {{secret.TOKEN}}" },
      ...{ body: { n: "{{n}}" }, expect_status: 201 },
    };
    const expression = "make.output.status == 201 && make.output.body.count == 2";
    const graph = chain([make, { id: "gate", type: "condition", expression }]);
    const given = testcase(graph, { variables: { base: url, n: 7 } });
    const { steps, ...reply } = await runSaved(bench({ secrets: { TOKEN: "hidden-token" } }), given);
    expect(reply).toMatchObject({ status: "passed", verified_count: 2 });
    expect(seen).toEqual(['POST Bearer hidden-token {"n":7}']);
    expect(JSON.stringify(steps)).not.toContain("hidden-token");
  });

  it("fails on another status, and is error when no one answers unless an edge catches it", async () => {
    const url = await answering((_request, response) => response.writeHead(500).end("no"));
    expect(await run([ask(url, { expect_status: 200 })])).toMatchObject({
      status: "failed",
      failed_step: { expected: "status 200", found: "status 500" },
    });
    const down = ask("http://127.0.0.1:1/", { expect_status: 200 });
    expect(await run([down])).toMatchObject({ status: "error", reason: { code: "APP_UNREACHABLE" } });
    const caught = chain([down, sees("look", "Welcome")], [{ from: "ask", to: "look", on: "failure" }]);
    expect(await runSaved(bench(), testcase(caught))).toMatchObject({ status: "passed" });
  });

  it("obeys the URL policy, whatever edges there are", async () => {
    const denied = ask("http://169.254.169.254/latest", { expect_status: 200 });
    const graph = chain([denied], [{ from: "ask", to: "done", on: "failure" }]);
    expect(await runSaved(bench(), testcase(graph))).toMatchObject({
      status: "error",
      reason: { code: "URL_DENIED" },
    });
  });
});

describe("what is sent", () => {
  const echo = () =>
    answering((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const type = request.headers["content-type"] ?? "";
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ type, text: Buffer.concat(chunks).toString("latin1") }));
      });
    });

  it("is JSON, a form, parts or a file", async () => {
    await writeFile(join(folder(), "note.txt"), "from a file");
    const url = await echo();
    const holds = (type: string, ...texts: string[]) => ({
      checks: [
        { json_path: "$.type", matches: `^${type}` },
        ...texts.map((text) => ({ json_path: "$.text", matches: text })),
      ],
    });
    const bodies: [Given, Given][] = [
      [{ body: { n: "{{n}}" } }, holds("application/json", '^\\{"n":7\\}$')],
      [
        { form: { a: "x & y", b: [1, 2] } },
        holds("application/x-www-form-urlencoded", "^a=x\\+%26\\+y&b=1&b=2$"),
      ],
      [
        { multipart: { title: "T", file: { file: "note.txt", content_type: "text/plain" } } },
        holds("multipart/form-data; boundary=", 'name="title"', 'filename="note.txt"', "from a file"),
      ],
      [{ body_file: "note.txt" }, holds("application/octet-stream", "^from a file$")],
    ];
    for (const [body, checks] of bodies) {
      const graph = chain([ask(url, { method: "POST", ...body, ...checks })]);
      expect(await runSaved(bench(), testcase(graph, { variables: { n: 7 } }))).toMatchObject({
        status: "passed",
      });
    }
    const outside = ask(url, { method: "POST", body_file: "../note.txt", expect_status: 200 });
    expect(await run([outside])).toMatchObject({ status: "error", reason: { code: "PATH_DENIED" } });
  });

  it("carries the cookies of the run, redirects included, and none of another run", async () => {
    const url = await answering((request, response) => {
      if (request.url === "/in")
        response.writeHead(302, { location: "/home", "set-cookie": ["sid=1; Path=/", "b=2"] });
      response.end(`saw ${request.headers.cookie ?? "none"}`);
    });
    const sees = (id: string, path: string, text: string, more: Given = {}) =>
      ask(url + path, { id, checks: [{ json_path: "$", equals: `saw ${text}` }], ...more });
    const first = [
      sees("before", "/", "none"),
      sees("in", "/in", "sid=1; b=2"),
      sees("after", "/", "sid=1; b=2"),
    ];
    expect(await run(first)).toMatchObject({ status: "passed", verified_count: 3 });
    const stays = sees("in", "/in", "none", { expect_status: 302, follow_redirects: false });
    await passes([stays]);
  });

  it("comes with a curl line when it failed, with secrets by name", async () => {
    const url = await json({ ok: false });
    const block = ask(url, {
      method: "POST",
      headers: { authorization: "Bearer {{secret.TOKEN}}" },
      body: { text: "it's" },
      checks: [{ json_path: "$.ok", equals: true }],
    });
    const { steps, ...reply } = await run([block], { secrets: { TOKEN: "hidden-token" } });
    const curl = `curl -i -L -X POST -H 'authorization: Bearer '"$TOKEN" -H 'content-type: application/json' --data-raw '{"text":"it'\\''s"}' '${url}'`;
    expect(steps[0]?.output).toMatchObject({ curl });
    expect(reply.reason?.message).toContain(curl);
    expect(JSON.stringify([steps, reply])).not.toContain("hidden-token");
  });
});

describe("an API that misbehaves", () => {
  it.each([
    [
      "promises more than it sends",
      "HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\nabc",
      "INVALID_RESPONSE",
      /ended after 3 bytes of the 30/,
    ],
    [
      "sends more than it promises",
      "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdefgh",
      "INVALID_RESPONSE",
      /HTTP/,
    ],
    [
      "breaks a chunk off",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nab",
      "INVALID_RESPONSE",
      /before its last chunk/,
    ],
    ["speaks no HTTP", "SSH-2.0-x\r\n", "INVALID_RESPONSE", /HTTP/],
    ["hangs up", "", "APP_UNREACHABLE", /hang up/],
  ])("and %s ends the block with its code and the next step", async (_, answer, code, message) => {
    const { steps, ...reply } = await run([ask(await raw(answer), { expect_status: 200 })]);
    expect(reply).toMatchObject({
      status: "error",
      reason: { code, message: expect.stringMatching(message) },
    });
    expect(steps[0]?.output).toMatchObject({ curl: expect.stringContaining("curl -i") });
  });

  it("is left when it streams without end or hangs, and its connection is closed", async () => {
    const closed: Promise<void>[] = [];
    const url = await answering((request, response) => {
      closed.push(new Promise((resolve) => response.once("close", () => resolve())));
      if (request.url === "/hangs") return;
      response.writeHead(200);
      const chunk = Buffer.alloc(200_000, 120);
      const more = (): void => {
        if (response.destroyed) return;
        if (response.write(chunk)) setImmediate(more);
        else response.once("drain", more);
      };
      if (request.url === "/fast") more();
      else response.write("a");
    });
    const end = async (path: string) =>
      run([ask(url + path, { expect_status: 200, timeout_ms: path === "/fast" ? 60_000 : 200 })]);
    expect(await end("/fast")).toMatchObject({ status: "error", reason: { code: "INVALID_RESPONSE" } });
    expect(await end("/slow")).toMatchObject({ status: "error", reason: { code: "REQUEST_TIMEOUT" } });
    expect(await end("/hangs")).toMatchObject({ status: "error", reason: { code: "REQUEST_TIMEOUT" } });
    await Promise.all(closed);
  });

  it("answers JSON of any depth with a code", async () => {
    const url = await answering((_request, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end("[".repeat(100_000) + "]".repeat(100_000)),
    );
    expect(await run([ask(url, { expect_status: 200 })])).toMatchObject({
      status: "error",
      reason: { code: "INVALID_RESPONSE" },
    });
  });
});
