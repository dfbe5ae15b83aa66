import { fileURLToPath } from "node:url";
import { loadAgents } from "@labwright/agent-client";
import { loadSkills, matchSkill } from "@labwright/skills";
import { expect, test } from "vitest";
import { tools } from "#mcp-server/tools/index.ts";

const folder = fileURLToPath(new URL("../../skills", import.meta.url));
const { skills } = loadSkills(folder, new Set(tools.map(({ name }) => name)));
const { agents } = loadAgents();

const exploring = "take_control, create_node";
/** How many tools a skill has in seed 000, those that it names, and the phrases that load it. */
const seed = {
  "run-script": [2, "get_compatible_hosts, execute_script", "run script, execute script"],
  "run-testcase": [2, "get_compatible_hosts, execute_testcase", "run testcase, execute test"],
  "list-resources": [
    ...[4, "list_scripts, list_testcases, list_hosts, list_userinterfaces"],
    "list scripts, list testcases",
  ],
  "device-status": [2, "get_device_info, get_compatible_hosts", "device status, check device"],
  "explore-mobile": [8, `${exploring}, dump_ui_elements`, "explore mobile, android"],
  "explore-web": [8, `${exploring}, dump_ui_elements`, "explore web, website"],
  "explore-stb": [7, `${exploring}, capture_screenshot`, "explore stb, tv"],
  "create-testcase": [
    ...[4, "list_userinterfaces, generate_and_save_testcase, save_testcase, list_testcases"],
    "create testcase",
  ],
  "manage-requirements": [
    5,
    "create_requirement, list_requirements, link_testcase_to_requirement, get_coverage_summary, get_uncovered_requirements",
    "requirements, coverage",
  ],
  "incident-response": [
    ...[4, "take_control, release_control, capture_screenshot, get_device_info"],
    "alert.blackscreen",
  ],
  "health-check": [2, "list_hosts, get_device_info", "health check"],
  "alert-triage": [2, "get_device_info, capture_screenshot", "triage alert"],
  "validate-result": [2, "get_execution_status, load_testcase", "validate results"],
  "detect-false-positive": [2, "get_execution_status, load_testcase", "false positive, flaky"],
  "generate-report": [3, "get_execution_status, list_testcases, get_coverage_summary", "generate report"],
} as const;
/** They also wait for the run that they start. */
const waiting = ["run-script", "run-testcase"];

const rows = Object.entries(seed).map(
  ([name, [count, named, phrases]]) => [name, count, named.split(", "), phrases.split(", ")] as const,
);

test.each(rows)("%s has the %i tools of seed 000, and its phrases load it", (name, count, named, phrases) => {
  const skill = skills.find((one) => one.name === name);
  const more = waiting.includes(name) ? ["get_execution_status"] : [];
  expect(skill?.tools).toEqual(expect.arrayContaining([...named, ...more]));
  expect(skill?.tools).toHaveLength(count + more.length);
  for (const phrase of phrases) expect(matchSkill(phrase, skills), phrase).toMatchObject({ skill: { name } });
});

test("of more than 70 tools a skill brings 2 to 8", () => {
  expect(tools.length).toBeGreaterThan(70);
  expect(skills.filter(({ tools }) => tools.length < 2 || tools.length > 8)).toEqual([]);
});

test("each agent of seed 000 has the seed's skills and starts by its events", () => {
  const of = (name: string) => agents.find((agent) => agent.name === name);
  const names = Object.keys(seed);
  expect(of("assistant")?.available_skills).toEqual(expect.arrayContaining(names.slice(0, 9)));
  expect(of("monitor")?.available_skills).toEqual(names.slice(9, 12));
  expect(of("analyzer")?.available_skills).toEqual(names.slice(12));
  const events = (name: string) => of(name)?.triggers.map(({ event, priority }) => `${event} ${priority}`);
  expect(events("assistant")).toEqual([]);
  expect(events("monitor")).toEqual(
    expect.arrayContaining([
      "alert.blackscreen critical",
      "alert.app_crash critical",
      "alert.anr critical",
      "alert.no_signal critical",
      "webhook.ci_failure high",
      "schedule.health_check normal",
    ]),
  );
  expect(events("analyzer")).toEqual([
    "script.completed normal",
    "testcase.completed normal",
    "deployment.execution_done normal",
  ]);
  const told = agents.map(({ name, nickname, mode, selectable }) => [name, nickname, mode, selectable]);
  expect(told).toEqual(
    expect.arrayContaining([
      ["analyzer", "Sherlock", "autonomous", false],
      ["assistant", "Atlas", "interactive", true],
      ["monitor", "Guardian", "autonomous", false],
    ]),
  );
});

test("an event that starts a skill chooses no other skill where a person names it", () => {
  const wrong = agents.flatMap(({ triggers }) =>
    triggers.flatMap(({ event, skill }) => {
      const match = matchSkill(event, skills);
      return match.kind === "match" && match.skill.name !== skill ? [`${event}: ${match.skill.name}`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});
