import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { heldBackFaults, shopFaults } from "../bench/step13/shopFaults.ts";
import { type Fault, serveShop, shopTokens } from "../fixtures/apiShop.ts";
import { serveBooks } from "../fixtures/bookServer.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let client: TestClient;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const yaml = "environments: { live: { production: true } }";
  product = await openProduct(yaml, { ANNA: shopTokens.anna, BERTA: shopTokens.berta });
  client = await product.connect();
});
afterAll(async () => {
  for (const close of closing) await close();
  await product.dispose();
});

const auth = { anna: { token: "{{secret.ANNA}}" }, berta: { token: "{{secret.BERTA}}" } };
const resultSchema = z.looseObject({
  status: z.string(),
  execution_id: z.string(),
  findings: z.array(z.looseObject({ fault: z.string(), operation: z.string(), curl: z.string() })),
  not_reached: z.array(z.unknown()),
  tried: z.int(),
  operations: z.int(),
  timing: z.array(z.looseObject({ p50: z.int(), p95: z.int() })),
  saved: z.array(z.string()).optional(),
});

async function shopWith(name: string, faults: Parameters<typeof serveShop>[0] = []) {
  const shop = await serveShop(faults);
  closing.push(shop.close);
  const imported = await client.call("import_api_spec", { source: shop.documentUrl, name });
  expect(imported.text).toContain("operations: 30");
  return shop;
}

const doubled: Fault["spoils"] = (reply) => {
  const body = z.looseObject({ quantity: z.int() }).parse(reply.body);
  return { ...reply, body: { ...body, quantity: Math.min(100, body.quantity * 2) } };
};

const operationsOf = (...names: string[]) =>
  names.flatMap((one) => [
    `list${one}s`,
    ...["create", "read", "replace", "delete"].map((verb) => verb + one),
  ]);

/** To its end, however long a busy machine takes. */
async function run(args: Record<string, unknown>) {
  const asked = { auth, seed: 7, wait_ms: 50_000, ...args };
  let reply = await client.call("run_api_tests", asked);
  expect(reply.isError, reply.text).toBe(false);
  while (reply.structured?.status === "running") {
    const { execution_id } = reply.structured;
    reply = await client.call("get_execution_status", { execution_id, wait_ms: 50_000, max_tokens: 100 });
  }
  return { ...resultSchema.parse(reply.structured), text: reply.text };
}

describe("run_api_tests", () => {
  test("finds nothing on a server that does what its document says, and its tests can be saved and run again", async () => {
    await shopWith("sound");
    const { saved, ...result } = await run({ api: "sound", operations: operationsOf("Product"), save: true });
    expect(result).toMatchObject({
      status: "passed",
      findings: [],
      not_reached: [],
      tried: 5,
      operations: 5,
    });
    expect(result.timing[0]?.p95).toBeGreaterThan(0);
    expect(result.text).not.toContain(shopTokens.anna);
    expect(saved).toContain("sound: replaceProduct: change, then read again");
    const again = await client.call("execute_testcase", {
      testcase: "sound: replaceProduct: change, then read again",
    });
    expect(again.structured).toMatchObject({ status: "passed" });
  });

  test("credentials in plain text are hidden in what is kept, and are not saved", async () => {
    await shopWith("plain");
    const plain = { anna: { token: `${shopTokens.berta}-in-plain-text` } };
    const asked = { api: "plain", auth: plain, operations: ["listProducts"] };
    const refused = await client.call("run_api_tests", { ...asked, save: true });
    expect(refused.error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("secret") });
    const { execution_id, text } = await run(asked);
    const report = await client.call("get_execution_report", { execution_id, format: "ctrf" });
    const kept = await product.services.executions.get(execution_id);
    const ids = kept.steps.map(
      ({ output }) => z.looseObject({ execution_id: z.string() }).parse(output).execution_id,
    );
    const within = await Promise.all(ids.map((id) => product.services.executions.get(id)));
    const all = JSON.stringify([text, report.text, kept, within]);
    expect(all).toContain("Bearer [secret anna_token]");
    expect(all).not.toContain("in-plain-text");
  });

  test("tells each fault once, with the request that shows it", async () => {
    const names = ["price as text", "no quantity", "202 for 201", "any token deletes", "list open to all"];
    const others = [
      "crash at the greatest quantity",
      "crash at an empty list",
      "others may change",
      "refused, and stored",
    ];
    const more = [...names, ...others, "kind is no filter"];
    const faults = [...shopFaults, ...heldBackFaults].filter(({ name }) => more.includes(name));
    await shopWith("faulty", faults);
    const result = await run({ api: "faulty", operations: operationsOf("Product", "Order", "Coupon") });
    const of = ({ fault, operation }: { fault: string; operation: string }) => `${fault} ${operation}`;
    const wanted = faults.map(({ finds, operation }) => `${finds} ${operation}`);
    expect(result.findings.map(of).sort()).toEqual(wanted.sort());
    expect(result.status).toBe("failed");
    const crash = result.findings.find(
      ({ operation, fault }) => operation === "replaceOrder" && fault === "F100",
    );
    expect(crash).toMatchObject({ at: "body.quantity" });
    // The optional comment is left out.
    expect(crash?.curl).toMatch(/curl -i -X PUT .*\$ANNA.*"quantity":100/);
    expect(crash?.curl).not.toContain("comment");
  });

  test("takes values, roles, priorities and rules over several calls from a file, and names its wrong lines", async () => {
    await shopWith("ruled", [{ name: "doubles", operation: "readOrder", finds: "F904", spoils: doubled }]);
    const calls = [
      { id: "made", operation: "createOrder", body: { reference: "ruled-1", quantity: 4, state: "open" } },
      { id: "read", operation: "readOrder", params: { id: "{{made.output.body.id}}" } },
    ];
    const own = {
      auth,
      operations: { listRooms: { priority: "high", params: { limit: 5 } }, deleteRoom: { skip: true } },
      rules: [
        { name: "the state is kept", calls, holds: "read.output.body.state == made.output.body.state" },
        {
          name: "the quantity is kept",
          calls,
          holds: "read.output.body.quantity == made.output.body.quantity",
        },
      ],
    };
    const folder = product.config.folders.uploads;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "shop-tests.yaml"), stringify(own));
    const result = await run({ api: "ruled", auth: {}, file: "shop-tests.yaml", priority: ["high"] });
    expect(result.findings).toMatchObject([
      { fault: "F904", operation: "readOrder", at: "rule", expected: "the quantity is kept" },
    ]);
    expect(result).toMatchObject({ operations: 1, tried: 1, not_reached: [] });
    const wrong =
      "operations:\n  listRoms: { priority: high }\nrules:\n  - { name: x, calls: [], holds: '1 ==' }\n";
    await writeFile(join(folder, "wrong.yaml"), wrong);
    const refused = await client.call("run_api_tests", { api: "ruled", file: "wrong.yaml" });
    expect(refused.text).toContain("INVALID_INPUT");
    expect(refused.text).toContain("4:");
  });

  test("finds SQL injection, unescaped markup and calls to a given address where asked to, and none on a sound server", async () => {
    const findings = async (name: string, leaky: boolean, security: boolean) => {
      const books = await serveBooks({ leaky });
      closing.push(books.close);
      await client.call("import_api_spec", { source: books.documentUrl, name });
      const result = await run({ api: name, auth: {}, security });
      expect(result).toMatchObject({ tried: 7, operations: 7, not_reached: [] });
      return result.findings;
    };
    const found = await findings("leaky", true, true);
    const placesOf = (all: typeof found) =>
      all.map(({ fault, operation, at }) => `${fault} ${operation} ${at}`);
    // Its fields are those of a form.
    const usual = ["F102 addAuthor body.name"];
    expect(placesOf(found).sort()).toEqual([
      ...usual,
      "F200 addAuthor body.name",
      "F200 findBooks query.title",
      "F201 addNote body.note",
      "F201 greet query.name",
      "F202 addPreview body.link",
    ]);
    const curlOf = (name: string) => found.find(({ operation }) => operation === name)?.curl;
    expect(curlOf("findBooks")).toMatch(/title=Emma.*(AND|OR).*41.*%3D.*42/);
    expect(curlOf("addPreview")).toMatch(/curl .*"link":"http:\/\/127.0.0.1/);
    expect(await findings("tight", false, true)).toEqual([]);
    expect(placesOf(await findings("leaky, not asked", true, false))).toEqual(usual);
    const live = { api: "tight", operations: ["findBooks"], environment: "live", security: true };
    expect((await client.call("run_api_tests", live)).text).toContain("POLICY_DENIED");
  });

  test("writes nothing in production without a grant", async () => {
    const shop = await shopWith("live");
    const before = shop.requests();
    const refused = await client.call("run_api_tests", { api: "live", environment: "live", auth });
    expect(refused.text).toContain("POLICY_DENIED");
    expect(shop.requests()).toBe(before);
    const reads = { api: "live", environment: "live", operations: ["listProducts", "readProduct"] };
    expect(await run(reads)).toMatchObject({ status: "passed", findings: [] });
    expect(shop.written()).toBe(0);
  });

  test("ends as an error where no server is", async () => {
    await shopWith("away");
    const result = await client.call("run_api_tests", { api: "away", base_url: "http://127.0.0.1:9", auth });
    expect(result.structured).toMatchObject({
      status: "error",
      reason: { code: "APP_UNREACHABLE" },
      tried: 1,
    });
  });
});
