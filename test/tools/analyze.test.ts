import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const page = `<!doctype html><title>Shop</title>
<nav><a href="#cart">Cart (3)</a> <button aria-label="Open settings"><svg width="16" height="16"></svg></button></nav>
<form><h2>Returning customers</h2>
  <label for="mail">Email</label> <input id="mail">
  <button id="login">Sign in</button></form>
<form><h2>Partners</h2><button id="btn-8f3a2c19">Sign in</button></form>
<button data-testid="pay">Pay $5.99</button>
<button>Delete account</button> <iframe srcdoc="<button>Delete account</button>"></iframe>
<button disabled>Place order</button>`;

let product: Product;
let client: TestClient;
let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  server = await serve((_, response) => response.setHeader("content-type", "text/html").end(page));
  product = await openProduct("devices: [{ name: browser, model: web }, { name: box, model: simulated }]");
  client = await product.connect();
  const opened = await client.call("execute_device_action", {
    device_id: "browser",
    actions: [{ command: "navigate_to_url", params: { url: `${server.url}/` } }],
  });
  expect(opened.text, opened.text).toContain("passed");
}, 120_000);
afterAll(async () => {
  await product.dispose();
  await server.close();
});

const answer = z.object({
  candidates: z.array(z.looseObject({ ref: z.string(), selector: z.string() })),
  left_out: z.string().optional(),
});
async function analyze(intent: string, more = {}) {
  const reply = await client.call("analyze_screen_for_action", { intent, device_id: "browser", ...more });
  return { ...reply, ...answer.parse(reply.structured) };
}

test("two buttons of one name are distinguished, each with a selector that means it alone", async () => {
  const { structured, candidates } = await analyze("sign in button");
  expect(structured).toMatchObject({
    ambiguous: 2,
    hint: expect.stringContaining("where"),
    candidates: [
      { name: "Sign in", selector: "id=login", unique: true, stability: 0.7, why: "id" },
      { name: "Sign in", unique: true, where: 'after heading "Partners"' },
    ],
  });
  const [, generated] = candidates;
  expect(generated?.selector, "an id that a program made up is the last resort").not.toContain("8f3a2c19");
  const used = await client.call("execute_device_action", {
    device_id: "browser",
    actions: candidates.map(({ selector }) => ({ command: "hover_element", params: { selector } })),
  });
  expect(used.structured).toMatchObject({ status: "passed" });
});

test("a field comes with the command that fills it, an icon by its label", async () => {
  expect((await analyze("type my address into the email field")).candidates).toMatchObject([
    { role: "textbox", name: "Email", command: "input_text", unique: true },
  ]);
  expect((await analyze("settings icon")).candidates).toMatchObject([
    {
      name: "Open settings",
      command: "click_element",
      selector: 'role=button[name="Open settings"]',
      stability: 0.9,
      why: "role and name",
    },
  ]);
});

test("a price or a number in a selector is worth less, and said", async () => {
  expect((await analyze("pay")).candidates).toMatchObject([{ selector: "testid=pay", stability: 1 }]);
  const [cart] = (await analyze("cart link")).candidates;
  expect(cart).toMatchObject({ why: expect.stringContaining("a number"), unique: true });
  expect(cart?.stability).toBeLessThan(0.9);
});

test("a twin in another frame makes a selector not unique", async () => {
  const { candidates } = await analyze("delete account");
  const byName = 'role=button[name="Delete account"]';
  // In the frame the button stands alone, so nothing that finds it finds none in the page.
  expect(candidates).toMatchObject([
    { unique: true, selector: expect.not.stringContaining(byName) },
    { unique: false, selector: byName },
  ]);
});

test("what cannot be used, or says only half of it, is not a candidate, however stable", async () => {
  const disabled = await analyze("place order");
  expect(disabled.candidates).toEqual([]);
  expect(disabled.left_out).toMatch(/^e\d+ button "Place order": is disabled$/);
  const half = await analyze("sign in with Google");
  expect(half.candidates).toEqual([]);
  expect(half.text).toContain('does not say "google"');
  const none = await analyze("unsubscribe");
  expect(none.structured).toMatchObject({
    candidates: [],
    hint: expect.stringContaining("dump_ui_elements"),
  });
});

test("a box with a remote is analyzed alike, without a lease of its own", async () => {
  const { structured } = await analyze("movies", { device_id: "box" });
  expect(structured).toMatchObject({ candidates: [{ name: "Movies", command: "click_element" }] });
  expect((await product.services.devices.leases()).map(({ device_id }) => device_id)).toEqual([
    "lab/browser",
  ]);
});

test("the structured form costs little more than the text, and both keep within max_tokens", async () => {
  for (const [intent, max_tokens] of [
    ["sign in button", 500],
    ["delete account", 100],
  ] as const) {
    const { text, structured, candidates } = await analyze(intent, { max_tokens });
    const tokens = encode(JSON.stringify(structured)).length;
    expect(tokens / encode(text).length).toBeLessThanOrEqual(1.3);
    expect(tokens).toBeLessThanOrEqual(max_tokens + 100);
    expect(candidates.length).toBeGreaterThan(0);
  }
});
