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

const secretsOf = (url: string) => ({
  ...{ SIGNOZ_URL: url, SIGNOZ_TOKEN: "token-of-signoz" },
  ...{ JT_URL: url, JT_USERNAME: "jt-user", JT_PASSWORD: "jt-password" },
});

function read({ structured, error }: Reply) {
  expect(error).toBeUndefined();
  return viewSchema.parse(structured);
}

/** Starts a case and gives its answers. */
async function play(client: TestClient, skill: string, { context, answers }: ShipmentCase) {
  let view = read(await client.call("start_investigation", { skill, context }));
  const triggers = view.handoff ? [view.handoff.trigger] : [];
  for (const { answer, context: more } of answers) {
    const { investigation_id, handoff } = view;
    const args = { investigation_id, handoff_id: handoff?.id, answer, ...(more && { context: more }) };
    view = read(await client.call("resume_investigation", args));
    if (view.handoff) triggers.push(view.handoff.trigger);
  }
  return { view, triggers };
}

/** The skill on another database, by the name of its secret. */
function skillOn(database: string) {
  const skill = shipmentSkill();
  const data_sources = structuredClone(skill.data_sources ?? {});
  Object.assign(data_sources, { redshift: { tables: [], logs: [], credentials: `env:${database}` } });
  return { ...skill, name: `ocean-${database.toLowerCase()}`, data_sources };
}

describe("the shipment skill", () => {
  let pglite: Awaited<ReturnType<typeof startPgliteServer>>;
  let sources: Awaited<ReturnType<typeof serveShipmentSources>>;
  let product: Product;
  let client: TestClient;
  beforeAll(async () => {
    pglite = await startPgliteServer();
    const databases = { PGLITE: pglite.url, POSTGRESQL: await sharedDatabase() };
    await Promise.all(Object.values(databases).map(fillShipments));
    sources = await serveShipmentSources();
    const skills = Object.keys(databases).map(skillOn);
    product = await openProduct(
      "devices: [{ name: box, model: simulated }]",
      { ...databases, ...secretsOf(sources.url) },
      undefined,
      { skills: () => skills },
    );
    client = await product.connect();
  });
  afterAll(async () => {
    await product.dispose();
    await sources.close();
    await pglite.stop();
  });

  const all = ["pglite", "postgresql"].flatMap((database) =>
    shipmentCases().map((given) => [given.name, database, given] as const),
  );
  test.each(all)("%s on %s", async (_name, database, given) => {
    const { expected } = given;
    const { view, triggers } = await play(client, `ocean-${database}`, given);
    expect(view).toMatchObject({
      ...{ status: "done", skill_used: `ocean-${database}@1.0.0` },
      result: { root_cause: expected.root_cause },
    });
    expect(view.result?.confidence_score).toBeGreaterThanOrEqual(expected.min_confidence);
    if (expected.recommended_action !== undefined)
      expect(view.result?.recommended_action?.action).toBe(expected.recommended_action);
    if (expected.handoffs) expect(triggers).toEqual(expected.handoffs);
  });
});
