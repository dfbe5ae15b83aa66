import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { says } from "../fixtures/messagesApi/reply.ts";
import { byConversation } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { shared } from "../fixtures/shared.ts";
import { startSeed001 } from "./seed001Lab.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const lab = shared(startSeed001);

describe("labwright qa", () => {
  const plan = () => `
goal: The shop can be released
strategy: The sign-up form in the browser, the orders over HTTP.
app: shop
urls: [${lab.shop.url}/]
base_url: ${lab.shop.url}
environment: staging
risks: [{ id: signup, area: the sign-up form, level: high }]
budget: { retries: 0 }
cases:
  - id: sign-up
    executor: web
    priority: P1
    covers: [signup]
    steps: ["${lab.shop.open("/signup")}", 'click "Send"', 'check text "Done"']
endpoints: [{ method: GET, path: /api/orders }]
`;

  test("an OpenAPI document is tested by run_api_tests, and its findings are the errors", async () => {
    const program = lab.programs.start("qa", [
      "Is the API sound?",
      "--openapi",
      `${lab.shop.url}/api/openapi.json`,
      "--json",
    ]);
    const { code, out, err } = await program.ended;
    expect(err).toContain("by its document alone");
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      {
        status: "FAILED",
        parts: [
          {
            layer: "API",
            result: {
              results: [{ case: "openapi.json", status: "FAILED", execution_id: expect.any(String) }],
              errors: [{ code: "F101", message: expect.stringContaining("curl") }],
            },
          },
        ],
      },
    ]);
  });

  test("runs a plan file, reports JSON and files, and passes", async () => {
    const file = join(lab.folder, "plan.yaml");
    await writeFile(file, plan());
    lab.shop.traffic.signUps = 1;
    const { code, out, err } = await lab.programs.start("qa", [
      "--plan",
      file,
      "--json",
      "--report",
      lab.folder,
    ]).ended;
    expect(err).toContain("[1/1] PASSED sign-up");
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      {
        status: "PASSED",
        quality_score: 100,
        severity_level: "info",
        plan: {
          coverage_map: { signup: ["sign-up"] },
          agent_assignments: { web: ["sign-up"], api: ["GET /api/orders"] },
        },
        parts: [{ layer: "Web" }, { layer: "API" }],
      },
    ]);
    const page = await readFile(join(lab.folder, "report.html"), "utf8");
    expect(page).toContain("sign-up");
    expect(page).toContain("PASSED: quality score 100, info");
    const { correlation_id } = z.object({ correlation_id: z.string() }).parse(JSON.parse(out));
    const types = (await lab.stored(correlation_id)).map(({ message_type }) => message_type);
    expect(types).toEqual(expect.arrayContaining(["TestPlanReview", "CriticReview", "ApiExecutionResult"]));
  });

  test("a plan that writes to production is refused before anything runs", async () => {
    const file = join(lab.folder, "live.yaml");
    await writeFile(file, plan().replace("environment: staging", "environment: live"));
    const { code, out } = await lab.programs.start("qa", ["--plan", file, "--json"]).ended;
    expect([code, JSON.parse(out)]).toMatchObject([
      2,
      { status: "BLOCKED", parts: [], errors: [{ code: "POLICY_DENIED" }] },
    ]);
  });

  test("with a model: the critic's finding goes back to the planner, and the second plan runs", async () => {
    const cases = [
      {
        id: "order",
        executor: "api",
        covers: [] as string[],
        steps: lab.shop.request("/api/orders"),
        priority: "P1",
      },
    ];
    const planned = (covers: string[]) => ({
      ...{ goal: "Orders work", strategy: "One request", cases: cases.map((one) => ({ ...one, covers })) },
      risks: [{ id: "orders", area: "ordering", level: "high" }],
    });
    const replies = (firstText: string) => {
      if (firstText.startsWith("Put this review"))
        return [
          says("Seen."),
          says(JSON.stringify({ comment: "All of it was checked.", recommendations: [] })),
        ];
      const isSecond = firstText.includes("MISSED_CRITICAL_PATH");
      return [says("Read."), says(JSON.stringify(planned(isSecond ? ["orders"] : [])))];
    };
    const model = await startMessagesApi({ respond: byConversation(replies) });
    try {
      const env = { ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: model.url };
      const { code, out, err } = await lab.programs.start("qa", ["Do orders work?", "--json"], env).ended;
      expect(err).toContain("MISSED_CRITICAL_PATH");
      expect([code, JSON.parse(out)]).toMatchObject([
        0,
        {
          status: "PASSED",
          plan: { coverage_map: { orders: ["order"] } },
          rounds: [{ round: 1, to: "planner", why: [expect.stringContaining("MISSED_CRITICAL_PATH")] }],
          parts: [{ layer: "API", review: { quality_score: 100, comment: "All of it was checked." } }],
          cost_usd: expect.any(Number),
        },
      ]);
    } finally {
      await model.close();
    }
  });

  test("an error in a plan file is named with its line, and nothing runs", async () => {
    const file = join(lab.folder, "wrong.yaml");
    await writeFile(file, plan().replace("executor: web", "executor: phone"));
    const { code, err } = await lab.programs.start("qa", ["--plan", file]).ended;
    expect(code).toBe(2);
    expect(err).toMatch(/wrong\.yaml:12: cases\.0\.executor/);
  });

  test("Ctrl-C cancels what runs and ends with 130", async () => {
    const file = join(lab.folder, "slow.yaml");
    await writeFile(file, plan().replace('check text "Done"', 'wait for text "Never" for 60 s'));
    const program = lab.programs.start("qa", ["--plan", file]);
    await expect
      .poll(async () => (await lab.runsOf("sign-up"))[0]?.status, { timeout: 60_000 })
      .toBe("running");
    program.signal("SIGINT");
    expect((await program.ended).code).toBe(130);
    expect((await lab.runsOf("sign-up"))[0]).toMatchObject({ status: "cancelled" });
  });
});
