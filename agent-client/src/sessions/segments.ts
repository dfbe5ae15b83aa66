import { createHash } from "node:crypto";
import type { Skill } from "@labwright/skills";
import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { Message } from "../loop/history.ts";
import { type RunLimits, type RunOptions, type RunResult, runAgent } from "../loop/runAgent.ts";
import type { Gate } from "../loop/tools.ts";
import type { ModelSource } from "../model/models.ts";
import type { Clock, LabServer, ToolSpec } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { type LabDevice, platformOf } from "../skills/device.ts";
import { acts, entryOf, screenTools, type Toolset } from "../toolsets/index.ts";
import type { OpenApprovals } from "./approvals.ts";
import { type Ready, specsOf } from "./prepare.ts";
import type { Transcript } from "./transcript.ts";

/** The system prompt of a skill: who the model is, then what to do. */
export const systemOf = (agent: Agent, skill: Skill): string =>
  `${agent.system_prompt}\n\n${skill.system_prompt}`;

/** What a segment's system and tools are known by. */
function prefixOf(system: string, specs: readonly ToolSpec[], kind?: Toolset["kind"]): string {
  const sent = specs.map(({ name, description, input_schema }) => [name, description, input_schema]);
  return createHash("sha256")
    .update(JSON.stringify([system, sent, ...(kind ? [entryOf(kind)] : [])]))
    .digest("base64url")
    .slice(0, 16);
}

type Sent = Pick<RunOptions, "system" | "specs" | "inline" | "toolset"> & { history: Message[] };

/**
 * The segment of the conversation that goes on, with this skill's tools added to it where it began with others; or a new
 * one that begins with this skill, whose model is given what was said before without the thinking. A segment's system and
 * tools never change, since its thinking is bound to them.
 */
export async function whatIsSent(
  { skill, specs, loaded, device }: Ready,
  { agent, transcript }: { agent: Agent; transcript: Transcript },
  { server, models, settings }: { server: LabServer; models: ModelSource; settings: Settings },
): Promise<Sent> {
  const toolset = await toolsetOf(specs, settings, { server, models, device });
  const { segment } = transcript;
  const base = (await server.skills()).find(({ name }) => name === segment?.skill) ?? skill;
  const begun = base === skill ? specs : await specsOf(base, server);
  const system = systemOf(agent, base);
  const isWhole =
    segment !== undefined && segment.prefix === prefixOf(system, begun, kindOf(begun, settings));
  const isChanged =
    base.name !== skill.name ||
    transcript.history.slice(segment?.after).some(({ role }) => role === "system");
  // Tools come and go within a conversation, a toolset does not.
  const mayAdd =
    toolset?.kind === kindOf(begun, settings) && models.current().every(({ facts }) => facts.inline_tools);
  if (!isWhole || (isChanged && !mayAdd)) {
    const own = systemOf(agent, skill);
    // The last message asks, and is the first of the new segment.
    const after = transcript.history.length - 1;
    transcript.emit({ ...loaded, segment: { after, prefix: prefixOf(own, specs, toolset?.kind) } });
    return { system: own, specs, toolset, history: transcript.sent() };
  }
  transcript.emit(loaded);
  if (!isChanged) return { system, specs, toolset, history: transcript.sent() };
  if (loaded.chosen_by !== "kept") {
    const text = `Do this by the skill ${skill.name}, in place of the one before:\n${skill.system_prompt}`;
    // A list of blocks: only what the user said is a text.
    await transcript.add([{ role: "user", content: [{ type: "text", text }] }]);
  }
  return { system, specs: begun, inline: specs, toolset, history: transcript.sent() };
}

/** The toolset of a skill that acts on a device, where the settings ask for one. */
const kindOf = (specs: readonly ToolSpec[], { toolsets }: Settings): Toolset["kind"] | undefined =>
  toolsets !== "off" && specs.some(({ name }) => name === acts) ? toolsets : undefined;

/** Throws an AgentError where one of the models does not take it. */
async function toolsetOf(
  own: readonly ToolSpec[],
  settings: Settings,
  { server, models, device }: { server: LabServer; models: ModelSource; device: LabDevice | undefined },
): Promise<Toolset | undefined> {
  const kind = kindOf(own, settings);
  if (!kind) return undefined;
  const other = models.current().find(({ facts }) => !facts.toolsets);
  if (other)
    throw new AgentError(
      "CONFIG_INVALID",
      `${other.model} does not take the ${kind} toolset.`,
      "Set agents.toolsets: off, or only models that take it (docs/agents.md).",
    );
  const specs = (await server.toolbox.specs()).filter(({ name }) => screenTools.includes(name));
  const isWeb = device ? platformOf(device) === "web" : kind === "browser";
  return { kind, device: { id: device?.id, isWeb }, specs };
}

/** What ends a run: the agent's limits, else those of the settings; the shorter time of agent and skill. */
function limitsOf({ config }: Agent, skill: Skill, settings: Settings): RunLimits {
  const unlimited = Number.POSITIVE_INFINITY;
  const own = { ...settings.limits, ...config.limits };
  const { turns = 50, tokens = unlimited, cost_usd = unlimited } = own;
  return {
    ...{ turns, tokens, cost_usd },
    timeout_ms: Math.min(config.timeout_seconds, skill.timeout_seconds) * 1_000,
    max_output_tokens: settings.max_output_tokens,
  };
}

/** What every run needs. */
export type Deps = {
  server: LabServer;
  models: ModelSource;
  settings: Settings;
  clock: Clock;
  /** Where calls that wait for a person are found by others. */
  openApprovals?: OpenApprovals;
};
export type RunDeps = Deps & { gate: Gate; signal: AbortSignal };

/** Runs a skill in a conversation: its events and messages are stored there. */
export const runIn = (
  transcript: Transcript,
  { agent, skill, specs, sent }: { agent: Agent; skill: Skill; specs: readonly ToolSpec[]; sent: Sent },
  { server, models, settings, gate, signal }: RunDeps,
): Promise<RunResult> =>
  runAgent({
    ...{ models: models.current(), ...sent, call: server.toolbox.call, gate, signal },
    limits: limitsOf(agent, skill, settings),
    emit: transcript.emit,
    save: async (messages) => void (await transcript.add(messages)),
    // A segment of the skill at work, with messages that stand for all that came before.
    async restart(messages) {
      const system = systemOf(agent, skill);
      const text = "The conversation got long: older pictures, screens and listings were dropped.";
      const segment = {
        skill: skill.name,
        after: transcript.history.length,
        prefix: prefixOf(system, specs, sent.toolset?.kind),
      };
      transcript.emit({ type: "progress", kind: "note", text, segment });
      await transcript.add(messages);
      return { system, specs, toolset: sent.toolset, history: transcript.sent() };
    },
    now: () => performance.now(),
  });
