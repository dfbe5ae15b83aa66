import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSkills, type Skill } from "@labwright/skills";
import { sql } from "drizzle-orm";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { expressionProblem } from "#mcp-server/services/values/conditions.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { callContext } from "../fixtures/callContext.ts";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { sharedDatabase } from "../fixtures/sharedPostgres.ts";

const { Database } = createRequire(import.meta.url)("node-sqlite3-wasm");
const folder = mkdtempSync(join(tmpdir(), "labwright-trees-"));
let skills: Skill[] = [];
let product: Product;
let client: TestClient;
let database = "";
/** What the API answers; a number is a status. */
let reply: unknown = {};
let asked = 0;
let api: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  api = await serve((request, response) => {
    asked += 1;
    response.statusCode = typeof reply === "number" ? reply : 200;
    response.setHeader("content-type", "application/json");
    const signedBy = request.headers.authorization ?? "";
    response.end(JSON.stringify(reply).replace("SIGNED", signedBy));
  });
  database = await sharedDatabase();
  const table = ["create table orders (id text)", "insert into orders values ('1')"];
  const shop = new pg.Client({ connectionString: database });
  await shop.connect();
  for (const statement of table) await shop.query(statement);
  await shop.end();
  const archive = join(folder, "archive.db");
  const file = new Database(archive);
  for (const statement of table) file.exec(statement);
  file.close();
  const secrets = {
    SHOP_DATABASE: database,
    SHOP_ARCHIVE: archive,
    SHOP_URL: api.url,
    SHOP_USER: "shop-user",
    SHOP_PASSWORD: "pass-of-shop",
  };
  product = await openProduct("devices: [{ name: box, model: simulated }]", secrets, undefined, {
    skills: () => skills,
  });
  client = await product.connect();
});
afterEach(() => {
  reply = {};
  asked = 0;
});
afterAll(async () => {
  await product.dispose();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

type Files = { tree: string; more?: string; files?: Record<string, string>; timeout?: number };

/** Loads a skill as people write it. Its sources are the database `shop` and the API `desk`. */
function addSkill(name: string, { tree, more = "", files = {}, timeout = 60 }: Files): string {
  const home = join(folder, name);
  mkdirSync(join(home, "prompts"), { recursive: true });
  const yaml = `name: ${name}
version: 1.0.0
description: Looks into ${name}.
triggers: [look into ${name}]
system_prompt: Look into it.
tools: [start_investigation, resume_investigation]
timeout_seconds: ${timeout}
data_sources:
  shop: { type: postgres, credentials: "env:SHOP_DATABASE" }
  archive: { type: sqlite, file: "env:SHOP_ARCHIVE" }
  apis: { desk: { endpoint: "env:SHOP_URL", auth: basic, credentials: "env:SHOP_USER,SHOP_PASSWORD" } }
${more}`;
  for (const [file, text] of Object.entries({ "skill.yaml": yaml, "decision_tree.yaml": tree, ...files }))
    writeFileSync(join(home, file), text);
  const loaded = loadSkills(folder, new Set(tools.map((tool) => tool.name)), expressionProblem);
  expect(loaded.problems).toEqual([]);
  skills = loaded.skills;
  return name;
}

const step = (name: string, action: string, decisions: string) =>
  `  ${name}:\n    name: ${name}\n    action: ${action}\n    decisions: ${decisions}\n`;
const treeOf = (...steps: string[]) =>
  `entry_point: ${/^ {2}(\w+)/.exec(steps[0] ?? "")?.[1]}\nsteps:\n${steps.join("")}`;
const cause = (name: string, condition = "true", more = "") =>
  `{ found: { condition: "${condition}", confidence: 0.9, conclusion: { root_cause: ${name}${more} } } }`;
const askApi = '{ type: http, source: desk, path: "/orders/{order}" }';

const viewSchema = z.looseObject({
  investigation_id: z.string(),
  execution_id: z.string().optional(),
  status: z.string(),
  handoff: z
    .looseObject({
      id: z.string(),
      trigger: z.string(),
      question: z.string(),
      findings: z.array(z.string()),
      options: z.array(z.looseObject({ name: z.string() })),
    })
    .optional(),
  result: z.looseObject({ root_cause: z.string().nullable() }).optional(),
  judgement: z
    .object({ prompt: z.string(), knowledge: z.string().optional(), answer_schema: z.unknown() })
    .optional(),
});

async function call(tool: "start_investigation" | "resume_investigation", args: Record<string, unknown>) {
  const { structured, error } = await client.call(tool, args);
  expect(error).toBeUndefined();
  return viewSchema.parse(structured);
}
const start = (skill: string, context = {}, more = {}) =>
  call("start_investigation", { skill, context, ...more });
const answer = ({ investigation_id, handoff }: z.output<typeof viewSchema>, text: string, more = {}) =>
  call("resume_investigation", { investigation_id, handoff_id: handoff?.id, answer: text, ...more });

/** Every row in which a run may have left something. */
async function stored(): Promise<string> {
  const { db } = product.storage;
  const rows = await Promise.all(
    ["investigations", "executions", "steps", "events"].map((table) =>
      db.execute(sql.raw(`select * from ${table}`)),
    ),
  );
  return JSON.stringify(rows.map((result) => result.rows));
}

describe("a source", () => {
  test("that fails hands over with its reason, and is asked again when it is back", async () => {
    const skill = addSkill("broken-desk", {
      tree: treeOf(step("ask", askApi, cause("Late", "result.late"))),
    });
    reply = 503;
    const waiting = await start(skill, { order: 7 });
    expect(waiting).toMatchObject({ status: "waiting", handoff: { trigger: "undetermined" } });
    expect(waiting.handoff?.question).toContain("INVALID_RESPONSE: desk answered GET /orders/7 with 503");
    reply = { late: true };
    expect(await answer(waiting, "retry")).toMatchObject({ status: "done", result: { root_cause: "Late" } });
  });

  test("whose reply breaks its schema hands over, and says where", async () => {
    const skill = addSkill("odd-desk", {
      tree: treeOf(step("ask", "{ type: http, mapping: orders }", cause("Late", "result.late"))),
      files: {
        "api_mappings.yaml": `mappings:
  orders: { api: desk, request: order, response_schema: { type: object, fields: [{ name: late, type: boolean }] } }
requests: { order: { path: "/orders/{order}" } }\n`,
      },
    });
    reply = { late: "yes" };
    const { handoff } = await start(skill, { order: 7 });
    expect(handoff?.question).toContain(
      "INVALID_RESPONSE: The reply of desk breaks its response_schema: /late",
    );
  });

  test("is asked once within cache_ttl, and again with another value", async () => {
    const skill = addSkill("calm-desk", {
      tree: treeOf(step("ask", "{ type: http, mapping: orders }", cause("Late", "result.late"))),
      files: {
        "api_mappings.yaml": `mappings: { orders: { api: desk, request: order, cache_ttl: 60 } }
requests: { order: { path: "/orders/{order}" } }\n`,
      },
    });
    reply = { late: true };
    for (const order of [1, 1, 2]) await start(skill, { order });
    expect(asked).toBe(2);
  });

  test("gets its credentials, and they are stored and told nowhere", async () => {
    const skill = addSkill("quiet-desk", { tree: treeOf(step("ask", askApi, cause("Late", "result.late"))) });
    const pair = Buffer.from("shop-user:pass-of-shop").toString("base64");
    reply = { late: false, echo: "SIGNED pass-of-shop" };
    const view = await start(skill, { order: "pass-of-shop" });
    expect(view.status).toBe("waiting");
    for (const text of [JSON.stringify(view), await stored()]) {
      expect(text).toContain("[secret SHOP_PASSWORD]");
      for (const secret of ["pass-of-shop", pair, database]) expect(text).not.toContain(secret);
    }
  });

  test.each(["shop", "archive"])("gets SQL in a value as text only: %s", async (source) => {
    const query = `{ type: query, source: ${source}, query_template: "select id from orders where id = '{order}'" }`;
    const name = `sly-${source}`;
    const skill = addSkill(name, { tree: treeOf(step("look", query, cause("None", "result.count == 0"))) });
    const order = "1' or '1' = '1'; drop table orders; --{order}";
    expect(await start(skill, { order })).toMatchObject({ result: { root_cause: "None" } });
    const { handoff } = await start(skill, { order: "1" });
    expect(handoff?.findings).toContainEqual(expect.stringContaining("no decision holds"));
  });
});

describe("a tool", () => {
  test("that reads is called; one that writes is not, and its step hands over", async () => {
    const tree = treeOf(
      step(
        "hosts",
        "{ type: tool, tool: list_hosts }",
        '{ one: { condition: "size(result.hosts) == 1", confidence: 0.9, conclusion: { partial_finding: One host }, next_step: take } }',
      ),
      step("take", "{ type: tool, tool: take_control, arguments: { device_id: box } }", cause("Taken")),
    );
    const { handoff } = await start(addSkill("tools", { tree }));
    expect(handoff?.question).toContain(
      "CONFIRMATION_REQUIRED: An investigation only reads, and take_control changes",
    );
    expect(await product.services.devices.leases()).toEqual([]);
  });
});

describe("an investigation", () => {
  const slow = '{ type: query, source: shop, query_template: "select pg_sleep(60)" }';
  const active = async () => {
    const shop = new pg.Client({ connectionString: database });
    await shop.connect();
    const { rows } = await shop.query(
      "select query from pg_stat_activity where datname = current_database() and state = 'active' and query like '%pg_sleep%' and pid <> pg_backend_pid()",
    );
    await shop.end();
    return rows;
  };

  test("ends at its skill's time, and by cancel_execution, and leaves no query behind", async () => {
    const skill = addSkill("slow-shop", { tree: treeOf(step("wait", slow, cause("Slow"))), timeout: 1 });
    expect(await start(skill)).toMatchObject({ status: "timeout", reason: { code: "EXECUTION_TIMEOUT" } });
    const long = addSkill("long-shop", { tree: treeOf(step("wait", slow, cause("Slow"))), timeout: 60 });
    const running = await start(long, {}, { wait_ms: 0 });
    expect(running.status).toBe("running");
    const { error } = await client.call("cancel_execution", { execution_id: running.execution_id ?? "" });
    expect(error).toBeUndefined();
    const { investigation_id } = running;
    expect(await call("resume_investigation", { investigation_id })).toMatchObject({ status: "cancelled" });
    await expect.poll(active).toEqual([]);
    const control = new AbortController();
    control.abort();
    const gone = callContext({ signal: control.signal });
    const early = await product.services.investigations.begin(
      { skill: long, context: {}, wait_ms: 5_000 },
      gone,
    );
    expect(early).toMatchObject({ status: "cancelled", steps: 0 });
  });

  test("takes one of two answers to a question, also when they come at once", async () => {
    const tree = treeOf(
      step(
        "ask",
        askApi,
        '{ on: { condition: "true", confidence: 0.5, conclusion: { partial_finding: Odd }, next_step: again } }',
      ),
      step(
        "again",
        askApi,
        '{ on: { condition: "true", confidence: 0.5, conclusion: { root_cause: Odder } } }',
      ),
    );
    const waiting = await start(addSkill("two-answers", { tree }), { order: 1 });
    const { investigation_id, handoff } = waiting;
    const args = { investigation_id, handoff_id: handoff?.id, answer: "accept" };
    const replies = await Promise.all([1, 2, 3].map(() => client.call("resume_investigation", args)));
    const codes = replies.map(({ error }) => error?.code).sort();
    expect(codes).toEqual(["HANDOFF_ANSWERED", "HANDOFF_ANSWERED", undefined]);
    expect(asked).toBe(2);
    const state = await call("resume_investigation", { investigation_id });
    expect(state).toMatchObject({ status: "waiting", handoff: { id: "h2" } });
    const late = await client.call("resume_investigation", args);
    expect(late.error).toMatchObject({ code: "HANDOFF_ANSWERED" });
  });

  test("says what a judge needs: prompt, knowledge of the step, and the answer's schema", async () => {
    const skill = addSkill("judged", {
      tree: treeOf(
        step(
          "check_stock",
          askApi,
          '{ low: { condition: "true", confidence: 0.5, conclusion: { root_cause: Out of stock } } }',
        ),
      ),
      files: {
        "knowledge_base.md":
          "# Shop\nAbout the shop.\n\n## Stock\nStock is counted at night.\n\n## Payment\nBy card.\n",
        "prompts/analyze_results.txt": "Q {question}; R {results}; O {options}; {unknown}",
      },
    });
    reply = { left: 0, note: "{options}" };
    const { judgement } = await start(skill, { order: 1 }, { question: "Why is nothing sent?" });
    expect(judgement?.knowledge).toBe("## Stock\nStock is counted at night.");
    expect(judgement?.prompt).toMatch(
      /^Q Why is nothing sent\?; R \{"left":0,"note":"\{options\}"\}; O accept: .*; \{unknown\}$/s,
    );
    expect(judgement?.answer_schema).toMatchObject({
      properties: {
        handoff_id: { const: "h1" },
        answer: { enum: expect.arrayContaining(["accept", "stop"]) },
      },
    });
  });

  test("is rated and confirmed, and its skill's figures count it", async () => {
    const skill = addSkill("rated", { tree: treeOf(step("ask", askApi, cause("Late"))) });
    const { investigation_id } = await start(skill, { order: 1 });
    await start(skill, { order: 2 });
    await call("resume_investigation", { investigation_id, rating: 4, confirmed: true });
    const { uses } = await product.services.investigations.stats(skill);
    expect(uses).toMatchObject([
      {
        skill,
        runs: 2,
        done: 2,
        users: 1,
        repeats: 1,
        mean_steps: 1,
        mean_calls: 1,
        handoffs: 0,
        rating: 4,
        rated: 1,
        confirmed: 1,
        right: 1,
        wrong: 0,
      },
    ]);
    const waiting = await start(
      addSkill("unrated", { tree: treeOf(step("ask", askApi, cause("Late", "false"))) }),
      { order: 1 },
    );
    const early = await client.call("resume_investigation", {
      investigation_id: waiting.investigation_id,
      confirmed: true,
    });
    expect(early.error).toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("the skill", () => {
  test("is chosen by its phrase and conditions; else the question which one is meant is returned", async () => {
    const tree = treeOf(step("ask", askApi, cause("Late")));
    addSkill("sea", { tree, more: "conditions: [\"load.mode == 'SEA'\"]" });
    addSkill("air", { tree, more: "conditions: [\"load.mode == 'AIR'\"]" });
    const question = "Please look into sea and look into air";
    const found = await call("start_investigation", {
      question,
      context: { load: { mode: "AIR" }, order: 1 },
    });
    expect(found).toMatchObject({ skill_used: "air@1.0.0", result: { root_cause: "Late" } });
    const { structured } = await client.call("start_investigation", { question });
    expect(structured).toMatchObject({
      status: "waiting",
      judgement: { answer_schema: { properties: { skill: { enum: ["air", "sea"] } } } },
    });
    expect(structured).not.toHaveProperty("investigation_id");
    const large = await client.call("start_investigation", {
      skill: "air",
      context: { text: "x".repeat(300_000) },
    });
    expect(large.error).toMatchObject({ code: "INPUT_TOO_LARGE" });
    const { error } = await client.call("start_investigation", { skill: "airr" });
    expect(error).toMatchObject({ code: "SKILL_NOT_FOUND", hint: expect.stringContaining("air") });
  });
});
