import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { startPgliteServer } from "../fixtures/pgliteServer.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { sharedDatabase } from "../fixtures/sharedPostgres.ts";
import {
  fillShipments,
  type ShipmentCase,
  serveShipmentSources,
  shipmentCases,
  shipmentSkill,
} from "../fixtures/shipments.ts";

const viewSchema = z.looseObject({
  investigation_id: z.string(),
  skill_used: z.string(),
  status: z.string(),
  handoff: z.object({ id: z.string(), trigger: z.string(), question: z.string() }).optional(),
  result: z
    .looseObject({
      root_cause: z.string().nullable(),
      confidence_score: z.number(),
      evidence: z.array(z.looseObject({ finding: z.string() })),
      recommended_action: z.looseObject({ action: z.string() }).nullable(),
    })
    .optional(),
});

const secretsOf = (database: string, url: string) => ({
  SHIPMENT_DATABASE: database,
  ...{ SIGNOZ_URL: url, SIGNOZ_TOKEN: "token-of-signoz" },
  ...{ JT_URL: url, JT_USERNAME: "jt-user", JT_PASSWORD: "jt-password" },
});

function read({ structured, error }: Reply) {
  expect(error).toBeUndefined();
  return viewSchema.parse(structured);
}

const start = async (client: TestClient, args: Record<string, unknown>) =>
  read(await client.call("start_investigation", { skill: "ocean_debugging", ...args }));

/** Starts a case and gives its answers. */
async function play(client: TestClient, { context, answers }: Pick<ShipmentCase, "context" | "answers">) {
  let view = await start(client, { context });
  const triggers = view.handoff ? [view.handoff.trigger] : [];
  for (const { answer, context: more } of answers) {
    const { investigation_id, handoff } = view;
    const args = { investigation_id, handoff_id: handoff?.id, answer, ...(more && { context: more }) };
    view = read(await client.call("resume_investigation", args));
    if (view.handoff) triggers.push(view.handoff.trigger);
  }
  return { view, triggers };
}

describe.each([
  ["PGlite", startPgliteServer],
  ["PostgreSQL", async () => ({ url: await sharedDatabase(), stop: async () => undefined })],
])("the shipment skill on %s", (_, startDatabase) => {
  let database: Awaited<ReturnType<typeof startPgliteServer>>;
  let sources: Awaited<ReturnType<typeof serveShipmentSources>>;
  let product: Product;
  let client: TestClient;
  beforeAll(async () => {
    database = await startDatabase();
    await fillShipments(database.url);
    sources = await serveShipmentSources();
    const skill = shipmentSkill();
    product = await openProduct(
      "devices: [{ name: box, model: simulated }]",
      secretsOf(database.url, sources.url),
      undefined,
      { skills: () => [skill] },
    );
    client = await product.connect();
  });
  afterAll(async () => {
    await product.dispose();
    await sources.close();
    await database.stop();
  });

  test.each(shipmentCases().map((one) => [one.name, one] as const))("%s", async (_name, given) => {
    const { expected } = given;
    const { view, triggers } = await play(client, given);
    expect(view).toMatchObject({
      ...{ status: "done", skill_used: "ocean-debugging@1.0.0" },
      result: { root_cause: expected.root_cause },
    });
    expect(view.result?.confidence_score).toBeGreaterThanOrEqual(expected.min_confidence);
    if (expected.recommended_action !== undefined)
      expect(view.result?.recommended_action?.action).toBe(expected.recommended_action);
    if (expected.handoffs) expect(triggers).toEqual(expected.handoffs);
  });
});
