import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadSkills, newSkillFiles, tryCases } from "@labwright/skills";
import { expect, onTestFinished, test } from "vitest";
import { runLiveCase } from "#mcp-server/cli/commands/liveCases.ts";
import { evaluateCondition } from "#mcp-server/services/values/conditions.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { openProduct } from "../fixtures/product.ts";
import { temporaryFolder } from "./fixtures.ts";

const name = "find-cause";

test("a test case without results asks the real sources, and says where they lead elsewhere", async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(folder.path, name, file)), { recursive: true });
    writeFileSync(join(folder.path, name, file), text);
  };
  for (const [file, text] of Object.entries(newSkillFiles(name, "tree"))) put(file, text);
  rmSync(join(folder.path, name, "test_cases"), { recursive: true });
  put(
    "test_cases/a.yaml",
    "context: { test: Never }\nexpected: { root_cause: The test never ran, min_confidence: 0.9, handoffs: [] }\n",
  );
  put(
    "test_cases/b.yaml",
    "context: { test: null }\nanswers: [fails, accept]\nexpected: { root_cause: The app or the test changed, handoffs: [undetermined, low_confidence], steps_completed: [last_runs, open_alerts] }\n",
  );
  put("test_cases/c.yaml", "context: {}\nexpected: { root_cause: The test never ran }\n");
  const { skills, problems } = loadSkills(folder.path, new Set(tools.map((tool) => tool.name)));
  expect(problems).toEqual([]);
  const [skill] = skills;
  if (skill === undefined) throw new Error("no skill");

  const product = await openProduct("devices: [{ name: box, model: simulated }]", {}, undefined, {
    skills: () => skills,
  });
  onTestFinished(() => product.dispose());
  const client = await product.connect();
  const tried = await tryCases(join(folder.path, name), skill, {
    evaluate: evaluateCondition,
    runLive: (given) =>
      runLiveCase(name, given, async (tool, args) => {
        const { structured = {}, error } = await client.call(tool, args);
        if (error) throw new Error(JSON.stringify(error));
        return { ok: true, structured, trace_id: "" };
      }),
  });
  expect(tried.map((one) => one.problems)).toEqual([
    [],
    [],
    [
      'root_cause: expected "The test never ran", found null',
      expect.stringMatching(/^asked, without an answer in the case: .*test is missing/),
    ],
  ]);
});

test("the tool diagnose names the file and line of every skill that does not load", async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  for (const [file, text] of Object.entries(newSkillFiles(name, "tree"))) {
    mkdirSync(dirname(join(folder.path, name, file)), { recursive: true });
    writeFileSync(
      join(folder.path, name, file),
      text.replace("entry_point: last_runs", "entry_point: last_run"),
    );
  }
  writeFileSync(join(folder.path, "flat.yaml"), "name: flat\n");
  mkdirSync(join(folder.path, "empty"));
  const { problems } = loadSkills(folder.path, new Set(tools.map((tool) => tool.name)));
  const more = { skillProblems: () => problems };
  const product = await openProduct("devices: [{ name: box, model: simulated }]", {}, undefined, more);
  onTestFinished(() => product.dispose());
  const { structured } = await (await product.connect()).call("diagnose");
  expect(structured).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({
        what: `skill ${join(folder.path, name, "decision_tree.yaml")}:2`,
        status: "warning",
      }),
      expect.objectContaining({ what: `skill ${join(folder.path, "flat.yaml")}:1` }),
      expect.objectContaining({ what: `skill ${join(folder.path, "empty")}:1` }),
    ]),
  });
});
