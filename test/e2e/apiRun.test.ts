import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { serve } from "../fixtures/loopback.ts";
import { openPrograms, type Programs } from "../fixtures/program.ts";
import { chain, testcase } from "../services/apps/testcases/testcaseBench.ts";

let folder: string;
let programs: Programs;
let api: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-api-run-"));
  programs = openPrograms(folder);
  api = await serve((request, response) => {
    const isIn = request.headers.cookie === "session=1";
    const [status, body] = request.url === "/login" ? [200, {}] : isIn ? [200, { total: 3 }] : [401, {}];
    response.writeHead(status, { "content-type": "application/json", "set-cookie": "session=1; Path=/" });
    response.end(JSON.stringify(body));
  });
});
afterAll(async () => {
  await programs.start("stop", []).ended;
  await programs.end();
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

/** The built daemon has parts of its own for this: the cookies' library in its bundle, and the thread for JSON Schema. */
test("labwright run judges an API with cookies and a JSON Schema, without a device", async () => {
  const total = (type: string) => ({ properties: { total: { type } } });
  const ask = (type: string) => [
    { id: "login", type: "api_request", method: "POST", url: `${api.url}/login`, expect_status: 200 },
    {
      id: "ask",
      type: "api_request",
      url: `${api.url}/orders`,
      checks: [{ status: 200 }, { json_schema: total(type) }],
    },
  ];
  const files = { holds: "integer", breaks: "string" };
  for (const [name, type] of Object.entries(files))
    await writeFile(join(folder, `${name}.yaml`), stringify(testcase(chain(ask(type)), { name })));
  const paths = Object.keys(files).map((name) => join(folder, `${name}.yaml`));
  const { code, out } = await programs.start("run", [...paths, "--report", folder]).ended;
  expect(out).toMatch(/^\[1\/2\] passed +holds/m);
  expect(out).toMatch(/^\[2\/2\] failed +breaks/m);
  expect(out).toContain("$.total must be string");
  expect(out).toContain("curl -i");
  expect(code).toBe(1);
  expect(await readFile(join(folder, "junit.xml"), "utf8")).toContain('tests="2" failures="1"');
});
