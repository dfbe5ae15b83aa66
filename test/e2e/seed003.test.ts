import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tryCases } from "@labwright/skills";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { evaluateCondition } from "#mcp-server/services/values/conditions.ts";
import { type Answer, type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { sharedDatabase } from "../fixtures/sharedPostgres.ts";
import {
  fillShipments,
  serveShipmentSources,
  shipmentCases,
  shipmentFolder,
  shipmentSkill,
} from "../fixtures/shipments.ts";

const daemons = ownDaemons("seed003");
let database = "";
let sources: Awaited<ReturnType<typeof serveShipmentSources>>;
let count = 0;
beforeAll(async () => {
  database = await sharedDatabase();
  await fillShipments(database);
  sources = await serveShipmentSources();
});
afterAll(() => sources.close());

/** A daemon whose user has the skill of seed 003. Called again with its folder, it is the next daemon of the same data. */
function startDaemon(dataDir = join(daemons.root, `d${++count}`)): Promise<DaemonProcess> {
  const skills = join(dataDir, "skills");
  mkdirSync(skills, { recursive: true });
  cpSync(shipmentFolder, join(skills, "ocean_debugging"), { recursive: true });
  const { url } = sources;
  const env = {
    ...{ SHIPMENT_DATABASE: database, SIGNOZ_URL: url, SIGNOZ_TOKEN: "token-of-signoz" },
    ...{ JT_URL: url, JT_USERNAME: "jt-user", JT_PASSWORD: "jt-password" },
  };
  return daemons.start({ dataDir, config: "devices: [{ name: box, model: simulated }]\n", env });
}

const bin = fileURLToPath(new URL("../../mcp-server/bin/labwright.js", import.meta.url));

/** What the command line says, next to a daemon that runs. */
async function labwright({ dataDir }: DaemonProcess, ...args: string[]): Promise<string> {
  const { PATH, HOME, LABWRIGHT_BROWSER_SANDBOX } = process.env;
  const env = { PATH, HOME, LABWRIGHT_BROWSER_SANDBOX };
  const given = [bin, ...args, "--data-dir", dataDir];
  return (await promisify(execFile)(process.execPath, given, { env })).stdout;
}

function resultOf({ error, result }: Answer) {
  expect(error).toBeUndefined();
  return result;
}

const load = { id: "U123", mode: "OCEAN", carrier_id: "CARR123", shipper_id: "SHIP456" };
const approve = (id: unknown, answer = "approve") => ({ investigation_id: id, handoff_id: "h1", answer });

describe("the tests of seed 003", () => {
  test("test_ocean_debugging_network_missing: with a mocked database, and so do the other cases", async () => {
    const tried = await tryCases(shipmentFolder, shipmentSkill(), { evaluate: evaluateCondition });
    expect(tried.map(({ problems }) => problems)).toEqual(Array(8).fill([]));
    const missing = tried.find(({ file }) => file.endsWith("case_network_missing.yaml"));
    expect(missing).toMatchObject({ root_cause: "Network relationship missing", confidence: 0.95 });
  });

  test("test_router_selects_correct_skill and test_real_ticket_network_missing", async () => {
    const daemon = await startDaemon();
    const question = "Why is load U123 not tracking?";
    const chosen = resultOf(
      await daemon.call("start_investigation", { question, context: { load: { mode: "OCEAN" } } }),
    );
    expect(chosen).toMatchObject({ skill_used: "ocean-debugging@1.0.0", status: "waiting" });
    const land = resultOf(
      await daemon.call("start_investigation", { question, context: { load: { mode: "ROAD" } } }),
    );
    expect(land).not.toHaveProperty("skill_used");

    const found = resultOf(await daemon.call("start_investigation", { question, context: { load } }));
    expect(found).toMatchObject({
      status: "waiting",
      handoff: {
        id: "h1",
        trigger: "critical_decision",
        options: [{ name: "approve" }, { name: "reject" }],
        findings: expect.arrayContaining([expect.stringContaining("Network relationship missing")]),
      },
    });
    const done = resultOf(await daemon.call("resume_investigation", approve(found.investigation_id)));
    expect(done).toMatchObject({
      status: "done",
      result: {
        root_cause: "Network relationship missing",
        confidence_score: 0.95,
        recommended_action: { action: "create_relationship", priority: "immediate", approved: true },
        evidence: expect.arrayContaining([expect.objectContaining({ step: "step_1_network_relationship" })]),
        time_to_investigate: expect.any(Number),
        steps_completed: expect.arrayContaining(["step_1_network_relationship", "step_signoz_logs"]),
      },
    });
    const signoz = sources.asked.find(({ url }) => url.searchParams.get("query")?.includes("signoz_logs"));
    expect(signoz?.headers.authorization).toBe("Bearer token-of-signoz");
    expect(signoz?.url.searchParams.get("query")).not.toContain("U123");
    expect([...(signoz?.url.searchParams.values() ?? [])]).toContain("U123");
    const stats = await labwright(daemon, "skills", "stats", "ocean-debugging");
    expect(stats).toMatch(/runs +\d+ \(1 done\) by 1 user/);
    expect(stats).toMatch(/accuracy +8 of 8 test cases; expected 85%/);
    expect(stats).toMatch(/time +\d.* a run; target 20 minutes; baseline 40 minutes/);
  });

  test("a handoff is answered after a restart, and a run that was killed goes on from its last stored step", async () => {
    const first = await startDaemon();
    const { dataDir } = first;
    const waiting = resultOf(
      await first.call("start_investigation", { skill: "ocean_debugging", context: { load } }),
    );
    // The second step cannot end while its table is locked; the first one is stored.
    const lock = new pg.Client({ connectionString: database });
    await lock.connect();
    await lock.query("begin; lock table fact_carrier_file_logs");
    const [silent] = shipmentCases().filter(({ name }) => name === "no_files");
    const args = { skill: "ocean_debugging", context: silent?.context ?? {}, wait_ms: 0 };
    const running = resultOf(await first.call("start_investigation", args));
    const stateIn = async (daemon: DaemonProcess) =>
      (await daemon.call("resume_investigation", { investigation_id: running.investigation_id, wait_ms: 0 }))
        .result;
    await expect
      .poll(() => stateIn(first), { timeout: 20_000 })
      .toMatchObject({ status: "running", current_state: "step_2_carrier_files", steps: 3 });
    await daemons.kill(first);

    const asked = sources.asked.length;
    const second = await startDaemon(dataDir);
    const answered = resultOf(
      await second.call("resume_investigation", approve(waiting.investigation_id, "reject")),
    );
    expect(answered).toMatchObject({ status: "done", result: { recommended_action: { approved: false } } });
    const again = await second.call("resume_investigation", approve(waiting.investigation_id));
    expect(again.error).toMatchObject({ code: "HANDOFF_ANSWERED" });
    await lock.query("rollback");
    await lock.end();
    await expect
      .poll(() => stateIn(second), { timeout: 20_000 })
      .toMatchObject({ status: "done", result: { root_cause: "Carrier sends no files" } });
    // Its parallel checks were stored, so they were not asked again.
    expect(sources.asked.length).toBe(asked);
  });
});
