import { setTimeout as pause } from "node:timers/promises";
import { says } from "../fixtures/messagesApi/reply.ts";
import { startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { type AgentSide, startAgentSide } from "./agentSide.ts";
import { settleMs } from "./memory.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { percentile } from "./statistics.ts";

const measured = { turns: 200, warmUps: 50, history: 10 };
const atOnce = 50;
const idle = 200;
const skill = "list-resources";
const expected = ["skill_loaded", "message", "session_ended"];

/**
 * Milliseconds of a message's one turn, from its sending to its answer. The stand-in answers at once, but its own time is
 * counted too.
 */
async function turnTimes(side: AgentSide): Promise<number[]> {
  const times: number[] = [];
  let session = "";
  for (let turn = -measured.warmUps; turn < measured.turns; turn++) {
    // Each on a history of 20 messages or a few more.
    if (turn % measured.history === 0) {
      session = await side.open();
      for (let message = 0; message < measured.history; message++)
        await side.say(session, `list the scripts, ${message}`, skill);
    }
    const begun = performance.now();
    await side.say(session, "and list the scripts again", skill);
    if (turn >= 0) times.push(performance.now() - begun);
  }
  return times;
}

/** How many events of many conversations at once came out of order, twice or not at all. */
async function lostEvents(side: AgentSide): Promise<number> {
  const lost = await Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      const events = await side.say(await side.open(), `list the scripts of conversation ${at}`, skill);
      const types = new Set(events.map(({ type }) => type));
      const missing = expected.filter((type) => !types.has(type));
      return missing.length + events.filter(({ seq }, index) => seq !== index + 1).length;
    }),
  );
  return lost.reduce((total, one) => total + one, 0);
}

/** What conversations that wait for their next message add to the daemon and the agents. */
async function idleMegabytes(side: AgentSide): Promise<number> {
  await pause(settleMs);
  const before = await side.megabytes();
  for (let at = 0; at < idle; at++)
    await side.say(await side.open(), `list the scripts of idle conversation ${at}`, skill);
  await pause(settleMs);
  return (await side.megabytes()) - before;
}

/** The agents of a real daemon, with a model that takes no time. Memory comes last, when all is warm. */
export async function measureAgentTime(sides: Sides): Promise<Measurement[]> {
  const api = await startMessagesApi({ respond: () => says("There are two scripts.") });
  const side = await startAgentSide(sides, { api: api.url });
  try {
    const times = await turnTimes(side);
    return [
      { id: "agent.turn", ours: percentile(times, 0.95), runs: times.length },
      { id: "agent.lost", ours: await lostEvents(side), runs: atOnce },
      { id: "agent.memory", ours: await idleMegabytes(side), runs: idle },
    ];
  } finally {
    await side.close();
    await api.close();
  }
}
