import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAgents } from "@labwright/agent-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownAgentsFolder, parseAgent } from "#agent-client/agents/load.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ownNames = readdirSync("agent-client/agents")
  .map((file) => file.replace(".yaml", ""))
  .sort();

const lines = {
  name: "name: night",
  nickname: "nickname: Owl",
  description: "description: Works at night.",
  mode: "mode: interactive",
  system_prompt: "system_prompt: You are Owl.",
  available_skills: "available_skills: [health-check]",
  config: "config: {}",
};
function yaml(changes: Partial<Record<keyof typeof lines, string>> = {}, more = ""): string {
  return `${Object.values({ ...lines, ...changes }).join("\n")}\n${more}`;
}
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const names = (loaded: ReturnType<typeof loadAgents>) => loaded.agents.map(({ name }) => name);
const defaults = (loaded: ReturnType<typeof loadAgents>) =>
  loaded.agents.filter((agent) => agent.default).map(({ name }) => name);

describe("Labwright's own agents", () => {
  it("are sound, know only skills that there are, and one of them is the default", () => {
    const loaded = loadAgents();
    expect(loaded.problems).toEqual([]);
    expect(names(loaded)).toEqual(ownNames);
    expect(defaults(loaded)).toEqual(["assistant"]);
    const skills = new Set(allSkills());
    for (const { available_skills } of loaded.agents)
      expect(available_skills.filter((name) => !skills.has(name))).toEqual([]);
  });

  it("lie in the build as they lie in the sources", () => {
    for (const name of ownNames)
      expect(readFileSync(`mcp-server/dist/agents/${name}.yaml`, "utf8")).toBe(
        readFileSync(join(ownAgentsFolder(), `${name}.yaml`), "utf8"),
      );
  });
});

const allSkills = () => readdirSync("skills").filter((name) => existsSync(`skills/${name}/skill.yaml`));

describe("an agent of the user's own", () => {
  it("stands next to ours", () => {
    write("night.yaml", yaml());
    write("notes.txt", "no agent");
    const loaded = loadAgents({ userFolder: folder });
    expect(loaded.problems).toEqual([]);
    expect(names(loaded)).toEqual([...ownNames, "night"].sort());
    expect(defaults(loaded)).toEqual(["assistant"]);
  });

  it("replaces ours of its name", () => {
    write("monitor.yaml", yaml({ name: "name: monitor" }));
    const { agents } = loadAgents({ userFolder: folder });
    expect(agents.filter(({ name }) => name === "monitor")).toMatchObject([{ nickname: "Owl" }]);
  });

  it("is the default in place of ours when it says so, and a second one of the user's is refused", () => {
    write("night.yaml", yaml({}, "selectable: true\ndefault: true\n"));
    expect(defaults(loadAgents({ userFolder: folder }))).toEqual(["night"]);
    write("other.yaml", yaml({ name: "name: other" }, "selectable: true\ndefault: true\n"));
    const both = loadAgents({ userFolder: folder });
    expect(defaults(both)).toEqual(["night"]);
    expect(both.problems).toEqual([
      { file: join(folder, "other.yaml"), line: 1, message: "default: night is the default already" },
    ]);
    expect(names(both)).not.toContain("other");
  });

  it("is left out with every problem of its file, while the others go on", () => {
    write(
      "night.yaml",
      yaml({ mode: "mode: loud", nickname: "nicknme: Owl", config: "config: {enabled: 7}" }),
    );
    write("owl.yaml", yaml({ name: "name: owl" }));
    const { agents, problems } = loadAgents({ userFolder: folder });
    expect(agents.map(({ name }) => name)).toEqual([...ownNames, "owl"].sort());
    expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      expect.stringMatching(/^1 nickname: /),
      "2 nicknme: is not a key of an agent; the nearest is nickname",
      expect.stringMatching(/^4 mode: /),
      expect.stringMatching(/^7 config\.enabled: /),
    ]);
  });

  it.each([
    [
      "a skill that is not there",
      yaml({ available_skills: "available_skills: [helth-check]" }),
      "6 available_skills.0: no skill is called helth-check; the nearest is health-check",
    ],
    [
      "a trigger with a skill that it does not have",
      yaml({}, "triggers: [{event: alert.x, skill: alert-triage}]\n"),
      "8 triggers.0.skill: alert-triage is not among available_skills",
    ],
    ["a name that is not its file's", yaml({ name: "name: day" }), "1 name: must be its file's, night"],
    [
      "a default that nobody may talk to",
      yaml({}, "default: true\n"),
      "8 default: only one that is selectable can be the default",
    ],
    [
      "a key that a trigger does not have",
      yaml({}, "triggers: [{event: alert.x, skill: health-check, when: now}]\n"),
      "8 triggers.0.when: is not a key here",
    ],
    ["broken YAML", "name: [night\n", expect.stringMatching(/^\d+ .+/)],
    ["nothing", "", expect.stringMatching(/^1 .+/)],
    ["a list", "[]\n", expect.stringMatching(/^1 .+/)],
    ["an alias that unfolds without end", "a: &a [*a, *a]\nb: *a\n", expect.stringMatching(/^\d+ .+/)],
  ])("is refused with its line for %s", (_, text, problem) => {
    const { agent, problems } = parseAgent(text, "night.yaml", new Set(["health-check", "alert-triage"]));
    expect(agent).toBeUndefined();
    expect(problems.map(({ line, message }) => `${line} ${message}`)[0]).toEqual(problem);
  });

  it("is refused when its file is too large, or no file", () => {
    write("large.yaml", `# ${"x".repeat(300_000)}\n${yaml()}`);
    mkdirSync(join(folder, "folder.yaml"));
    const { problems } = loadAgents({ userFolder: folder });
    expect(problems.map(({ file, message }) => `${file} ${message}`)).toEqual([
      expect.stringMatching(/folder\.yaml cannot be read/),
      expect.stringMatching(/large\.yaml has \d+ bytes/),
    ]);
  });

  it("is missed with a problem when the folder is not there", () => {
    const { agents, problems } = loadAgents({ userFolder: join(folder, "none") });
    expect(agents).toHaveLength(ownNames.length);
    expect(problems).toEqual([
      { file: join(folder, "none"), line: 1, message: expect.stringContaining("cannot be read") },
    ]);
  });
});
