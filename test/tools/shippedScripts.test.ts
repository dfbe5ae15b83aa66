import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { type Site, startSite } from "../fixtures/site.ts";

let site: Site;
let product: Product;
let client: TestClient;

const click = (selector: string) => ({ command: "click_element", params: { selector } });
const shows = (text: string) => ({ command: "text_visible", params: { text } });
const link = (name: string) => `role=link[name="${name}"]`;

/** Two pages of the test site that link to each other; `back` is the link that leads back. */
const app = (name: string, back: string) =>
  JSON.stringify({
    format_version: 1,
    name,
    models: ["web"],
    tree: {
      nodes: [
        { label: "Entry", type: "entry" },
        { label: "Start", verifications: [shows("Query")] },
        { label: "Second", verifications: [shows("Second page"), shows("Back to start")] },
      ],
      edges: [
        {
          source: "Entry",
          target: "Start",
          action_sets: [{ actions: [{ command: "navigate_to_url", params: { url: `${site.url}/` } }] }],
        },
        {
          source: "Start",
          target: "Second",
          action_sets: [
            { actions: [click(link("Second page"))] },
            { direction: "reverse", actions: [click(link(back))] },
          ],
        },
      ],
    },
  });

beforeAll(async () => {
  site = await startSite();
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
  for (const [name, back] of [
    ["site", "Back to start"],
    ["broken", "Nowhere"],
  ] as const) {
    const { error } = await client.call("import_userinterface", { yaml: app(name, back) });
    expect(error).toBeUndefined();
  }
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});

const execute = async (script: string, userinterface_name: string, args: string[] = []) => {
  const { structured } = await client.call("execute_script", { script, args, userinterface_name });
  const id = z.string().parse(structured.execution_id);
  const { steps } = await product.services.executions.get(id);
  return { structured, steps: steps.map(({ label, status }) => `${label} ${status}`) };
};

describe.runIf(hasSandbox)("on a real browser", () => {
  test("goto.py goes to a screen by name and says how it got there", async () => {
    const { structured, steps } = await execute("goto", "site", ["Second"]);
    expect(structured).toMatchObject({
      status: "passed",
      verified_count: 1,
      outputs: { at: "Second", verified: true },
    });
    expect(steps).toEqual(["navigate_to_node site Second passed", "goto.py passed"]);
    expect(site.requests).toContain("GET /second");
  });

  test("goto.py fails with the reason where there is no such screen, and without an argument", async () => {
    const { structured } = await execute("goto.py", "site", ["Secnod"]);
    expect(structured).toMatchObject({
      status: "failed",
      reason: { message: expect.stringMatching(/NODE_NOT_FOUND.*Second/s) },
      outputs: { code: "NODE_NOT_FOUND" },
    });
    expect((await execute("goto.py", "site")).structured).toMatchObject({
      status: "failed",
      log_tail: expect.stringContaining("only argument"),
    });
  });

  test("validation.py walks the tree and passes when every way holds", async () => {
    const { structured } = await execute("validation", "site");
    expect(structured).toMatchObject({
      status: "passed",
      verified_count: 3,
      outputs: { passed: 3, failed: 0, unverified: 0 },
    });
  });

  test("validation.py fails and names the way that does not hold", async () => {
    const { structured } = await execute("validation", "broken");
    expect(structured).toMatchObject({
      status: "failed",
      outputs: { passed: 2, failed: 1 },
      log_tail: expect.stringContaining("Nowhere"),
    });
  });
});
