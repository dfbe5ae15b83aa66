import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { TestClient } from "../../fixtures/client.ts";
import { serve } from "../../fixtures/loopback.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";
import { chain } from "../apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let product: Product;
let client: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  page = await serve((_, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Shop</title><h1>Shop</h1>");
  });
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

describe("credentials in addresses", () => {
  const secretUrl = () => `${page.url.replace("://", "://anna:s3same@")}/?access_token=t0ken&page=2`;

  it("leave in no result, record, report, event or error, and lead where they should", async () => {
    const acted = await client.call("execute_device_action", {
      actions: [{ command: "navigate_to_url", params: { url: secretUrl() } }],
    });
    expect(acted.isError, acted.text).toBe(false);
    const dumped = await client.call("dump_ui_elements", {});
    const testcase = {
      name: "with credentials",
      inputs: [{ name: "url", default: secretUrl() }],
      ...chain([
        { id: "open", type: "action", command: "navigate_to_url", params: { url: "{{url}}" } },
        {
          id: "again",
          type: "action",
          command: "navigate_to_url",
          params: { url: "{{open.output.data.url}}" },
        },
        {
          id: "at",
          type: "verification",
          command: "url_matches",
          params: { url: "access_token=other" },
          timeout_ms: 0,
        },
      ]),
      outputs: { at: "{{open.output.data.url}}" },
    };
    await client.call("save_testcase", { testcase });
    const ran = await client.call("execute_testcase", {
      testcase: "with credentials",
      inputs: { url: secretUrl() },
    });
    expect(ran.structured).toMatchObject({ status: "failed", failed_step: { path: "at" } });
    const id = String(ran.structured.execution_id);
    const stored = JSON.stringify([
      await product.services.executions.get(id),
      await product.services.executions.get(String(acted.structured.execution_id)),
      await product.events.read({ after: 0, limit: 1_000 }),
    ]);
    const reports = [];
    for (const format of ["html", "junit", "ctrf"]) {
      const { structured } = await client.call("get_execution_report", { execution_id: id, format });
      const { bytes } = await product.services.artifacts.get(
        String(structured.report).replace("artifact://", ""),
      );
      reports.push(Buffer.from(bytes).toString("utf8"));
    }
    const denied = await client.call("execute_device_action", {
      actions: [
        { command: "navigate_to_url", params: { url: "http://anna:s3same@nowhere.invalid/?api_key=t0ken" } },
      ],
    });
    expect(denied.isError).toBe(true);
    for (const text of [acted.text, dumped.text, ran.text, stored, denied.text, ...reports]) {
      expect(text).not.toContain("s3same");
      expect(text).not.toContain("t0ken");
    }
    expect(dumped.text).toContain("access_token=[masked]&page=2");
  });

  it("stay in what its author saved, so that it can be saved again", async () => {
    const { structured } = await client.call("load_testcase", { testcase: "with credentials" });
    expect(structured.testcase).toMatchObject({ inputs: [{ default: secretUrl() }] });
  });
});
