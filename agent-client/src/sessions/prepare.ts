import { maxCandidates, type Skill } from "@labwright/skills";
import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { AgentEventBody } from "../events.ts";
import type { ModelSource } from "../model/models.ts";
import { type Spent, spentOn } from "../model/usage.ts";
import type { LabServer, LabSkill, ToolSpec } from "../ports.ts";
import { type Chosen, chooseSkill, firstSentence, isFollowUp, routeSkill } from "../skills/choose.ts";
import { devicesNamed, devicesToAsk, type LabDevice, listDevices, platformOf } from "../skills/device.ts";

type SkillLoaded = Extract<AgentEventBody, { type: "skill_loaded" }>;
/** A skill with what it needs before its first turn. */
export type Ready = {
  skill: Skill;
  loaded: SkillLoaded;
  specs: readonly ToolSpec[];
  /** The one that the words now or before name, or the only one. */
  device: LabDevice | undefined;
  /** What of a message that asks for several skills is this one's. */
  part: string | undefined;
};

/** The skills of a message in the order in which they run, or the question that comes first. */
export type Prepared =
  | { kind: "ready"; each: readonly Ready[] }
  | {
      kind: "ask";
      question: string;
      options: readonly string[];
      details?: string[];
      /** The one that the answer is for; null where it is for a request of several, of which none is loaded yet. */
      skill?: Skill | null;
    };

export type PrepareDeps = {
  server: LabServer;
  models: ModelSource;
  agent: Agent;
  signal: AbortSignal;
  /** Hears of a model's work on the choice. */
  onSpent(spent: Spent): void;
};

export type Asked = {
  text: string;
  skill?: string | undefined;
  /** Name of the skill that is loaded. */
  loaded?: string | undefined;
  options: readonly string[];
  /** What the user said before. */
  said: readonly string[];
  /** Those of the lab, where they were asked for while the message was stored. */
  devices: Promise<readonly LabDevice[]> | undefined;
};

/** So much of what was said before may name the device. */
const remembered = 20;

/** Chooses the skill of a message, asks what it must, and takes the skill's tools and no other. */
export async function prepare(message: Asked, deps: PrepareDeps): Promise<Prepared> {
  const { server, agent, signal } = deps;
  const skills = skillsFor(message, agent, await server.skills());
  const named = skills.find(({ name }) => name === message.skill);
  if (named && !named.requires_device)
    return ready([{ skill: named }], "user", { message, devices: [], server });
  const devices = await (message.devices ?? listDevices(server, signal));
  const loaded = skills.find(({ name }) => name === message.loaded);
  const request = message.said.at(-1);
  if (!named && isDeviceAsked(message, devices)) {
    if (loaded) return ready([{ skill: loaded }], "kept", { message, devices, server });
    // Without a loaded skill, the request before asked for several.
    if (request !== undefined)
      return choose(
        { ...message, text: request, said: [message.text], options: [] },
        { skills, devices },
        deps,
      );
  }
  return choose(message, { skills, devices, loaded }, deps);
}

/** Whether the message answers which device, by no more than its name. */
const isDeviceAsked = ({ text, options }: Asked, devices: readonly LabDevice[]): boolean =>
  devices.some(
    ({ id, name }) =>
      options.includes(id) && [id, name].some((one) => one.toLowerCase() === text.trim().toLowerCase()),
  );

type Known = { skills: readonly Skill[]; devices: readonly LabDevice[]; loaded?: Skill | undefined };

async function choose(
  message: Asked,
  { skills, devices, loaded }: Known,
  { server, models, signal, onSpent }: PrepareDeps,
): Promise<Prepared> {
  const [device, ...others] = devicesNamed(message.text, devices);
  const platform = device && others.length === 0 ? platformOf(device) : undefined;
  const choice = chooseSkill({ ...message, skills, loaded, platform });
  const context = { message, devices, server };
  if (choice.kind === "chosen") return ready(choice.wishes, choice.chosen_by, context);
  const { candidates } = choice;
  const router = models.router();
  if (router) {
    const routed = await routeSkill(router, { text: message.text, skills, candidates, loaded, signal });
    onSpent(spentOn(routed.usage, router.facts.price));
    if (routed.wishes.length > 0) return ready(routed.wishes, "model", context);
  }
  if (loaded && isFollowUp(message.text)) return ready([{ skill: loaded }], "kept", context);
  const offered = candidates.length > 0 ? candidates : skills.slice(0, maxCandidates);
  return {
    kind: "ask",
    question: "Which of these do you mean?",
    options: offered.map(({ name }) => name),
    details: offered.map(({ description }) => firstSentence(description)),
  };
}

/**
 * The skills of a message's agent: those it lists, and the user's own if it accepts them. Throws SKILL_NOT_FOUND when the
 * message names another.
 */
export function skillsFor({ skill }: Asked, agent: Agent, all: readonly LabSkill[]): readonly LabSkill[] {
  const isOwn = ({ name, own }: LabSkill) =>
    agent.available_skills.includes(name) || (own === true && agent.user_skills);
  const skills = all.filter(isOwn);
  const names = skills.map(({ name }) => name);
  if (skill === undefined || names.includes(skill)) return skills;
  const message = `${agent.nickname} has no skill ${skill}.`;
  throw new AgentError("SKILL_NOT_FOUND", message, `It has ${names.join(", ")}.`);
}

type Context = { message: Asked; devices: readonly LabDevice[]; server: LabServer };

/** Nothing runs before each skill has what it needs. */
async function ready(
  wishes: readonly Chosen[],
  chosen_by: SkillLoaded["chosen_by"],
  { message, devices, server }: Context,
): Promise<Prepared> {
  const before = message.said.slice(-remembered).join(" ");
  for (const { skill, text: part = "" } of wishes) {
    // "All devices" in one part says nothing about another.
    const text = part && message.text.includes(part) ? part : message.text;
    const between = devicesToAsk(skill, { text, before: `${before} ${message.text}`, devices });
    if (between.length === 0) continue;
    const options = between.map(({ id }) => id);
    if (wishes.length > 1) return { kind: "ask", question: "Which device is it for?", options, skill: null };
    const question = `Which device is it for? The skill ${skill.name} needs one.`;
    return { kind: "ask", question, options, skill };
  }
  const named = [message.text, before]
    .map((text) => devicesNamed(text, devices))
    .find(({ length }) => length > 0);
  const [first, ...others] = named ?? devices;
  const device = others.length === 0 ? first : undefined;
  const each = wishes.map(async ({ skill, text: part }) => {
    const loaded = loadedEvent(skill, chosen_by);
    return { skill, loaded, specs: await specsOf(skill, server), device, part };
  });
  return { kind: "ready", each: await Promise.all(each) };
}

export const loadedEvent = (skill: Skill, chosen_by: SkillLoaded["chosen_by"]): SkillLoaded => {
  const { name, version, tools } = skill;
  const text = `LOAD SKILL ${name}`;
  return { type: "skill_loaded", skill: name, version, tools: [...tools], chosen_by, text };
};

/**
 * A skill's tools in the server's order. A skill never runs with half of them; one that starts runs can wait for their ends,
 * also where it does not list the tool for that.
 */
export async function specsOf(skill: Skill, { toolbox }: LabServer): Promise<readonly ToolSpec[]> {
  const all = await toolbox.specs();
  const own = all.filter(({ name }) => skill.tools.includes(name));
  const startsRuns = own.some(({ input_schema: { properties } }) =>
    Object.hasOwn(properties ?? {}, "wait_ms"),
  );
  const specs = startsRuns
    ? all.filter((spec) => own.includes(spec) || spec.name === "get_execution_status")
    : own;
  const missing = skill.tools.filter((tool) => !specs.some(({ name }) => name === tool));
  if (missing.length === 0) return specs;
  throw new AgentError(
    "SKILL_NOT_FOUND",
    `The server does not offer ${missing.join(", ")}, which the skill ${skill.name} needs.`,
    "Is the server of the same version as this client?",
  );
}
