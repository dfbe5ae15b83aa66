import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cannotRead,
  describeIssue,
  offer,
  readSource,
  readText,
  type SkillProblem,
  type Source,
} from "@labwright/skills";
import { type Agent, agentSchema } from "./agent.ts";

/** By name. A name is there once, and at most one agent is the default. */
export type LoadedAgents = { agents: Agent[]; problems: SkillProblem[] };

const maxFiles = 200;

/**
 * Labwright's own agents and the user's, every `<name>.yaml` of `userFolder`. One of the user's replaces ours of its name,
 * and is the default in place of ours when it says so. A file with a problem is left out, with all its problems; the others
 * go on. `knownSkills`, where given, are the skills that an agent of the user's may name.
 */
export function loadAgents(
  given: { userFolder?: string | undefined; knownSkills?: ReadonlySet<string> } = {},
): LoadedAgents {
  const own = readFolder(ownAgentsFolder());
  const user = given.userFolder ? readFolder(given.userFolder, given.knownSkills) : [];
  const problems = [...own, ...user].flatMap((file) => file.problems);
  const theirs = withOneDefault(user, problems);
  const names = new Set(theirs.map(({ name }) => name));
  const isTaken = theirs.some((agent) => agent.default);
  const ours = own
    .flatMap(({ agent }) => agent ?? [])
    .filter(({ name }) => !names.has(name))
    .map((agent) => ({ ...agent, default: agent.default && !isTaken }));
  return { agents: [...ours, ...theirs].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

/** The folder of Labwright's own agents: next to the sources, and next to the bundle that the build makes of them. */
export function ownAgentsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "agents", "assistant.yaml")) && dirname(folder) !== folder)
    folder = dirname(folder);
  return join(folder, "agents");
}

type AgentFile = { file: string; agent?: Agent; problems: SkillProblem[] };

function readFolder(folder: string, knownSkills?: ReadonlySet<string>): AgentFile[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
    const first = names.sort().slice(0, maxFiles);
    const tooMany = names.length > maxFiles ? [unreadable(folder, `has more than ${maxFiles} agents`)] : [];
    return [...first.map((name) => readAgent(join(folder, name), knownSkills)), ...tooMany];
  } catch (error) {
    return [unreadable(folder, cannotRead(error))];
  }
}

function readAgent(file: string, knownSkills?: ReadonlySet<string>): AgentFile {
  const text = readText(file) ?? { message: "is missing" };
  return typeof text === "string"
    ? { file, ...parseAgent(text, file, knownSkills) }
    : unreadable(file, text.message);
}

/** Parses one agent's file; an agent only when nothing is wrong with it. */
export function parseAgent(
  text: string,
  file: string,
  knownSkills?: ReadonlySet<string>,
): Omit<AgentFile, "file"> {
  const source = readSource(text, file);
  if (Array.isArray(source)) return { problems: source };
  const parsed = agentSchema.safeParse(source.value);
  const problems = parsed.success
    ? checkSense(parsed.data, source, { file, knownSkills })
    : parsed.error.issues.flatMap((issue) => describeIssue(issue, source, "an agent", agentSchema));
  problems.sort((a, b) => a.line - b.line);
  return parsed.success && problems.length === 0 ? { agent: parsed.data, problems } : { problems };
}

/** What a schema cannot say of an agent. */
function checkSense(
  agent: Agent,
  source: Source,
  { file, knownSkills }: { file: string; knownSkills: ReadonlySet<string> | undefined },
): SkillProblem[] {
  const { name, available_skills: skills, triggers, default: isDefault, selectable } = agent;
  const problems: SkillProblem[] = [];
  const add = (path: PropertyKey[], message: string) =>
    problems.push(source.problemAt(path, `${path.join(".")}: ${message}`));
  for (const [at, skill] of skills.entries())
    if (knownSkills && !knownSkills.has(skill))
      add(["available_skills", at], `no skill is called ${skill}${offer(skill, knownSkills)}`);
  for (const [at, { skill }] of triggers.entries())
    if (!skills.includes(skill))
      add(["triggers", at, "skill"], `${skill} is not among available_skills${offer(skill, skills)}`);
  const fileName = basename(file, ".yaml");
  if (fileName !== name) add(["name"], `must be its file's, ${fileName}`);
  for (const [path, message] of roleProblems(agent)) add([path], message);
  if (isDefault && !selectable) add(["default"], "only one that is selectable can be the default");
  return problems;
}

function roleProblems({ mode, accepts, selectable }: Agent): [string, string][] {
  const isRole = mode === "role";
  return [
    ...(isRole === accepts.length > 0
      ? []
      : [
          ["accepts", "an agent of mode role names the messages that it accepts, and no other does"] as [
            string,
            string,
          ],
        ]),
    ...(isRole && selectable
      ? [["selectable", "people do not talk to an agent of mode role"] as [string, string]]
      : []),
  ];
}

/** A second default would be chosen by chance: it is left out with a problem. */
function withOneDefault(files: readonly AgentFile[], problems: SkillProblem[]): Agent[] {
  const [first, ...others] = files.filter(({ agent }) => agent?.default);
  for (const { file } of others)
    problems.push({ file, line: 1, message: `default: ${first?.agent?.name} is the default already` });
  return files.flatMap((file) => (others.includes(file) ? [] : (file.agent ?? [])));
}

const unreadable = (file: string, message: string): AgentFile => ({
  file,
  problems: [{ file, line: 1, message }],
});
