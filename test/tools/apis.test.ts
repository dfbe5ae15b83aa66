import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const petsText = readFileSync(new URL("../fixtures/apis/pets-3.0.yaml", import.meta.url), "utf8");

/** A server of pets with its own document; `documents` can be changed, `seen` are its requests. */
const documents = new Map<string, string>();
const seen: { line: string; key: string | undefined; type: string | undefined; body: string }[] = [];
let api: Awaited<ReturnType<typeof serve>>;
let live: Awaited<ReturnType<typeof serve>>;
let product: Product;
let client: TestClient;

const bodyOf = async (request: IncomingMessage) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
};

const answers: Record<string, [status: number, body: unknown]> = {
  "GET /pets": [200, [{ id: 1, name: "Rex", owner: null }]],
  "GET /pets/1": [200, { id: "one", name: "Rex" }],
  "GET /pets/2": [200, { id: 2, name: "Ada", parent: { id: 1, name: "Rex" } }],
  "POST /pets": [201, { id: 3, name: "Bo" }],
  "DELETE /pets/2": [500, { error: "x".repeat(20_000) }],
};

beforeAll(async () => {
  const listener: Parameters<typeof serve>[0] = async (request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    const body = await bodyOf(request);
    const document = documents.get(path);
    if (document !== undefined) return void response.end(document);
    const { "x-key": key, "content-type": type } = request.headersDistinct;
    seen.push({ line: `${request.method} ${request.url}`, key: key?.[0], type: type?.[0], body });
    const [status, reply] = answers[`${request.method} ${path}`] ?? [404, { error: "none" }];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(reply));
  };
  api = await serve(listener);
  live = await serve(listener);
  const environments = `environments: { live: { production: true, urls: ["${new URL(live.url).host}"] } }`;
  product = await openProduct(`devices: [{ name: box, model: simulated }]\n${environments}`, {
    KEY: "pets-key-123",
  });
  client = await product.connect();
});
afterAll(async () => {
  await product?.dispose();
  await api?.close();
  await live?.close();
});
beforeEach(() => {
  seen.length = 0;
  documents.clear();
  documents.set("/openapi.yaml", pets());
});

const pets = () => petsText.replaceAll(/servers: .*/g, `servers: [{ url: "${api.url}" }]`);
const importing = (more: object = {}) =>
  client.call("import_api_spec", { source: `${api.url}/openapi.yaml`, ...more });
const send = (args: object) => client.call("execute_api_request", { ...args });

test("the limit of requests to one host is that of the configuration, and each request has a line for the log", async () => {
  const lines: object[] = [];
  const debug = (facts: object) => void lines.push(facts);
  const limited = await openProduct("limits: { requests_per_host_minute: 2 }", {}, undefined, { debug });
  const other = await limited.connect();
  const ask = (more: object = {}) =>
    other.call("execute_api_request", { url: `${api.url}/pets?token=hidden`, ...more });
  expect([await ask(), await ask()].map(({ structured }) => structured.status)).toEqual([200, 200]);
  const { error } = await ask({ timeout_ms: 200 });
  expect(error).toMatchObject({
    code: "RATE_LIMITED",
    details: { limit: 2 },
    hint: expect.stringContaining("limits.requests_per_host_minute"),
  });
  await limited.dispose();
  expect(seen).toHaveLength(2);
  expect(lines).toMatchObject([{ method: "GET", status: 200 }, { url: expect.stringContaining("/pets") }]);
  // What the daemon's log does to a line.
  const { secrets } = product.services;
  expect(secrets.mask(JSON.stringify(lines))).not.toContain("hidden");
});

describe("import_api_spec", () => {
  test("stores a document by its title, and says what changed when it is imported again", async () => {
    const first = await importing({ name: "changing" });
    expect(first.structured).toMatchObject({
      api: "changing",
      format: "3.0",
      operations: 4,
      replaced: false,
    });
    expect(await importing({ name: "changing" }).then(({ structured }) => structured)).toMatchObject({
      replaced: true,
      changes: {},
    });
    const changed = pets()
      .replace("  /pets:\n    get:\n", "  /toys:\n    get: { responses: {} }\n  /pets:\n    put:\n")
      .replace("minLength: 1", "minLength: 2");
    documents.set("/openapi.yaml", changed);
    expect((await importing({ name: "changing" })).error?.code).toBe("ALREADY_EXISTS");
    const replaced = await importing({ name: "changing", replace: true });
    expect(replaced.structured.changes).toEqual({
      added: ["GET /toys", "PUT /pets"],
      removed: ["GET /pets"],
      // Through the schema that they refer to.
      changed: ["POST /pets", "GET /pets/{id}"],
    });
    expect((await importing()).structured).toMatchObject({ api: "Pets", servers: [api.url] });
  });

  test("a document that cannot be used changes nothing", async () => {
    await importing({ name: "kept" });
    for (const [text, reason] of [
      ["<html>", "it is not an object"],
      [pets().replace("paths:", "paths: []\nx-paths:"), "#/paths must be an object; it is a list"],
      [`openapi: 3.0.0\ninfo: "${"x".repeat(10_000_000)}"`, "longer than"],
    ] as const) {
      documents.set("/openapi.yaml", text);
      const { error, isError } = await importing({ name: "kept" });
      expect(isError).toBe(true);
      expect(`${error?.message}`).toContain(reason);
    }
    documents.delete("/openapi.yaml");
    expect((await importing({ name: "kept" })).error?.message).toContain("status 404");
    expect((await client.call("list_api_operations", { api: "kept" })).structured).toMatchObject({
      total: 4,
    });
  });

  test("fetches nothing else unless it is allowed, and then only what the URL policy allows", async () => {
    const split = (ref: string) =>
      pets().replace('{ $ref: "#/components/responses/Created" }', `{ $ref: "${ref}" }`);
    documents.set(
      "/parts.json",
      JSON.stringify({ Created: { headers: { "X-Elsewhere": { required: true } } } }),
    );
    documents.set("/openapi.yaml", split("parts.json#/Created"));
    const refused = await importing({ name: "split" });
    expect(refused.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { reference: `${api.url}/parts.json` },
    });
    expect(refused.error?.hint).toContain("allow_remote_refs");
    expect((await importing({ name: "split", allow_remote_refs: true })).structured).toMatchObject({
      operations: 4,
    });
    const { operation } = await product.services.apis.operation("split", "addPet");
    expect(operation.responses["201"]?.required_headers).toEqual(["x-elsewhere"]);
    documents.set("/openapi.yaml", split("http://169.254.169.254/latest#/a"));
    expect((await importing({ allow_remote_refs: true })).error?.code).toBe("URL_DENIED");
    documents.set("/openapi.yaml", split("file:///etc/hostname#/a"));
    expect((await importing({ allow_remote_refs: true })).error?.message).toContain("which is never read");
  });

  test("an address that leads elsewhere or whose answer never ends is refused, and holds no other call", async () => {
    const open = new Set<string>();
    const hostile = await serve((request, response) => {
      const [, kind, to = ""] = /^\/(\w+)\/?(.*)/.exec(request.url ?? "") ?? [];
      if (kind === "to") return void response.writeHead(302, { location: decodeURIComponent(to) }).end();
      const piece = Buffer.alloc(kind === "endless" ? 1_000_000 : 1, " ");
      const timer = setInterval(() => response.write(piece), 5);
      open.add(kind ?? "");
      response.once("close", () => {
        clearInterval(timer);
        open.delete(kind ?? "");
      });
    });
    const from = (path: string) => client.call("import_api_spec", { source: `${hostile.url}/${path}` });
    for (const place of [
      "http://169.254.169.254/latest",
      "http://[::ffff:169.254.169.254]/",
      "file:///etc/hosts",
    ]) {
      const { error } = await from(`to/${encodeURIComponent(place)}`);
      expect(error?.code, place).toMatch(/^(URL_DENIED|INVALID_RESPONSE|INVALID_INPUT)$/);
    }
    expect((await from("endless")).error?.code).toMatch(/^(INVALID_RESPONSE|INPUT_TOO_LARGE)$/);
    const stop = new AbortController();
    const source = `${hostile.url}/trickle`;
    const trickling = client.client.callTool(
      { name: "import_api_spec", arguments: { source } },
      { signal: stop.signal },
    );
    const ended = trickling.catch(() => "cancelled");
    await expect.poll(() => [...open]).toEqual(["trickle"]);
    expect((await client.call("list_hosts", {})).error).toBeUndefined();
    stop.abort();
    expect(await ended).toBe("cancelled");
    await expect.poll(() => open.size).toBe(0);
    await hostile.close();
  });

  test("reads a file of the uploads with the files next to it, and none outside", async () => {
    const folder = join(product.config.folders.uploads, "apis");
    mkdirSync(folder, { recursive: true });
    const text = pets().replace(
      '{ $ref: "#/components/responses/Created" }',
      '{ $ref: "made.yaml#/Created" }',
    );
    writeFileSync(join(folder, "pets.yaml"), text);
    writeFileSync(join(folder, "made.yaml"), "Created: { description: made }");
    const file = (source: string) => client.call("import_api_spec", { source, name: "file", replace: true });
    expect((await file("apis/pets.yaml")).structured).toMatchObject({ operations: 4 });
    writeFileSync(join(folder, "pets.yaml"), text.replace("made.yaml", "../../labwright.yaml"));
    expect((await file("apis/pets.yaml")).error?.code).toBe("PATH_DENIED");
    expect((await file("/etc/hostname")).error?.code).toBe("PATH_DENIED");
  });
});

describe("list_api_operations", () => {
  test("lists one line an operation, filtered, page by page", async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        `/things${i}`,
        { get: { summary: `Thing ${i}`, tags: [`t${i % 3}`], responses: {} } },
      ]),
    );
    documents.set(
      "/openapi.yaml",
      JSON.stringify({ openapi: "3.0.0", info: { title: "Many", version: "1" }, paths }),
    );
    await importing();
    const list = (more: object) =>
      client.call("list_api_operations", { api: "Many", ...more }).then((reply) => reply.structured);
    const seenLines: unknown[] = [];
    for (let page = 1, more: unknown = 1; more !== undefined && page < 50; page++) {
      const answer = await list({ page });
      seenLines.push(...Object(answer.operations));
      more = answer.more;
    }
    expect(new Set(seenLines).size).toBe(300);
    expect(seenLines[0]).toBe("get_things0: GET /things0 · Thing 0");
    expect(await list({ tag: "t1" })).toMatchObject({ total: 100 });
    expect(await list({ search: "THING 29" })).toMatchObject({ total: 11 });
  });

  test("names what there is where the API is unknown or not said", async () => {
    await importing({ name: "one" });
    await importing({ name: "other" });
    const { error } = await client.call("list_api_operations", { api: "othr" });
    expect(error).toMatchObject({ code: "API_NOT_FOUND", details: { candidates: ["other"] } });
    expect((await client.call("list_api_operations")).error?.hint).toContain("one");
    expect((await send({ api: "one", operation_id: "getPets" })).error).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      details: { candidates: expect.arrayContaining(["getPet"]) },
    });
  });
});

describe("execute_api_request", () => {
  beforeEach(() => importing({ name: "pets" }));

  test("judges the answer of an operation by its description", async () => {
    const good = await send({ api: "pets", operation_id: "getPet", params: { id: 2 } });
    expect(good.structured).toMatchObject({ status: 200, passed: true, body: { name: "Ada" } });
    const bad = await send({ api: "pets", operation_id: "getPet", params: { id: 1 } });
    expect(bad.structured).toMatchObject({
      passed: false,
      checks: expect.arrayContaining([
        expect.objectContaining({ pass: false, path: "$.id", expected: expect.stringContaining("integer") }),
      ]),
      curl: `curl -i -L -X GET '${api.url}/pets/1'`,
    });
    const missing = await send({ api: "pets", operation_id: "getPet", params: { id: 9 } });
    expect(missing.structured).toMatchObject({
      passed: false,
      checks: [{ expected: "status 200", found: "status 404" }],
    });
  });

  test("writes parameters as the operation says, and names one that it does not have", async () => {
    await send({ api: "pets", operation_id: "listPets", params: { kinds: ["big dog", "a&b"] } });
    expect(seen[0]?.line).toBe("GET /pets?kinds=big%20dog|a%26b");
    const wrong = await send({ api: "pets", operation_id: "listPets", params: { kind: "x" } });
    expect(wrong.error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("kinds") });
    const none = await send({ api: "pets", operation_id: "getPet" });
    expect(none.error?.message).toContain("needs params id");
    expect(seen).toHaveLength(1);
  });

  test("sends a body as the operation takes it", async () => {
    const taking = (type: string) => ({ post: { requestBody: { content: { [type]: {} } }, responses: {} } });
    const types = ["application/x-www-form-urlencoded", "application/vnd.api+json", "text/csv"];
    const paths = Object.fromEntries(types.map((type, index) => [`/t${index}`, taking(type)]));
    const info = { title: "Bodies", version: "1" };
    documents.set(
      "/openapi.yaml",
      JSON.stringify({ openapi: "3.0.0", info, paths, servers: [{ url: api.url }] }),
    );
    await importing();
    for (const [index, body] of [{ a: "1 2" }, { a: 1 }, "a,b"].entries())
      await send({ api: "Bodies", operation_id: `post_t${index}`, body });
    expect(seen.map(({ type, body }) => `${type}: ${body}`)).toEqual([
      "application/x-www-form-urlencoded: a=1+2",
      'application/vnd.api+json: {"a":1}',
      "text/csv: a,b",
    ]);
  });

  test("fills in secrets on the way, and shows them nowhere", async () => {
    const reply = await send({
      ...{ api: "pets", operation_id: "addPet", headers: { "x-key": "{{secret.KEY}}" } },
      body: { name: "Bo", note: "{{secret.KEY}}" },
    });
    expect(reply.structured).toMatchObject({ status: 201, passed: true });
    expect(seen[0]).toMatchObject({ key: "pets-key-123", body: expect.stringContaining("pets-key-123") });
    expect(JSON.stringify(reply.raw)).not.toContain("pets-key-123");
    expect(String(reply.structured.curl)).toContain('"$KEY"');
    const inUrl = await send({ url: `${api.url}/pets?key={{secret.KEY}}` });
    expect(inUrl.error?.message).toContain("a secret belongs into headers or body");
  });

  test("sends a request of its own with checks, and cuts a long body", async () => {
    const request = { method: "DELETE", url: `${api.url}/pets/2` };
    const reply = await send({
      ...request,
      checks: [{ status: 204 }, { json_path: "$.error", type: "string" }],
    });
    expect(reply.structured).toMatchObject({
      ...{ status: 500, passed: false },
      checks: [{ expected: "status 204", pass: false, found: "status 500" }, { pass: true }],
    });
    expect(String(reply.structured.body).length).toBeLessThan(6_000);
    expect(reply.structured.more_characters).toBeGreaterThan(10_000);
    const without = await send(request);
    expect(without.structured).not.toHaveProperty("passed");
    expect((await send({ ...request, checks: [{ statuss: 204 }] })).error?.message).toContain("checks.0");
    expect((await send({ method: "GET" })).error?.message).toContain("no address");
  });

  test("tells what did not answer with its curl line", async () => {
    const { error } = await send({ url: "http://127.0.0.1:1/x" });
    expect(error).toMatchObject({
      code: "APP_UNREACHABLE",
      message: expect.stringContaining("curl -i -L -X GET"),
    });
  });

  test("writes nothing to production without an explicit grant", async () => {
    const post = { api: "pets", operation_id: "addPet", body: { name: "Bo" } };
    for (const args of [{ environment: "live" }, { url: live.url }]) {
      const { error } = await send({ ...post, ...args });
      expect(error).toMatchObject({
        code: "POLICY_DENIED",
        hint: expect.stringContaining("allow_production"),
      });
    }
    expect(seen).toEqual([]);
    expect((await send({ url: `${live.url}/pets` })).structured.status).toBe(200);
    expect((await send({ ...post, url: live.url, allow_production: true })).structured.status).toBe(201);
  });

  test("the api_request block of a test obeys the same rule", async () => {
    const steps = [
      { api_request: { method: "POST", url: `${live.url}/pets`, body: {}, checks: [{ status: 201 }] } },
    ];
    await client.call("save_testcase", { testcase: { name: "writes", steps } });
    const run = (more: object) =>
      client.call("execute_testcase", { testcase: "writes", ...more }).then(({ structured }) => structured);
    expect(await run({})).toMatchObject({ status: "error", reason: { code: "POLICY_DENIED" } });
    expect(seen).toEqual([]);
    const allowed = await run({ allow_production: true });
    expect(allowed).toMatchObject({ status: "passed" });
    // Who reads the run later sees that it was allowed to.
    const id = String(allowed?.execution_id);
    expect((await product.services.executions.get(id)).execution.input).toMatchObject({
      allow_production: true,
    });
  });
});
