import { setTimeout as pause } from "node:timers/promises";
import { says } from "../fixtures/messagesApi/reply.ts";
import { type MessagesApi, startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { type AgentSide, startAgentSide } from "./agentSide.ts";
import { settleMs } from "./memory.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { median, percentile, timed } from "./statistics.ts";

const measured = { turns: 200, warmUps: 50, history: 10 };
const restMs = 20;
const atOnce = 50;
const idle = 200;
const skill = "list-resources";
const expected = ["skill_loaded", "message", "session_ended"];

/** Milliseconds of one turn: from the sending of a message to its answer, and what of it the model's stand-in took. */
type Turn = { whole: number; model: number };

async function timeTurns(side: AgentSide, api: MessagesApi): Promise<Turn[]> {
  const turns: Turn[] = [];
  let session = "";
  for (let turn = -measured.warmUps; turn < measured.turns; turn++) {
    // Each on a history of 20 messages or a few more.
    if (turn % measured.history === 0) {
      session = await side.open();
      for (let message = 0; message < measured.history; message++)
        await side.say(session, `list the scripts, ${message}`, skill);
    }
    // By then the answer before it is stored, as it is whenever a person has read it.
    await pause(restMs);
    const before = api.requests.length;
    const { ms: whole } = await timed(() => side.say(session, "and list the scripts again", skill));
    if (turn >= 0) turns.push({ whole, model: modelTime(api.requests.slice(before)) });
  }
  return turns;
}

/** Of requests that were all answered, from the arrival of each at the stand-in to the last byte of its reply. */
function modelTime(requests: MessagesApi["requests"]): number {
  const times = requests.map(({ tookMs }) => tookMs ?? Number.NaN);
  return times.reduce((total, ms) => total + ms, 0);
}

/** The turn without the model's time is the product's: the agent client, the tools that it calls, the store, Socket.IO. */
async function measureTurns(
  side: AgentSide,
  { api, note }: { api: MessagesApi; note(line: string): void },
): Promise<Measurement> {
  const [asked, toolsBefore] = [api.requests.length, await side.toolMs()];
  const turns = await timeTurns(side, api);
  const tools = ((await side.toolMs()) - toolsBefore) / (api.requests.length - asked);
  const own = turns.map(({ whole, model }) => whole - model);
  const shown = (ms: readonly number[]) =>
    `${median(ms).toFixed(1)} ms (p95 ${percentile(ms, 0.95).toFixed(1)})`;
  note(
    `agent: a turn takes ${shown(turns.map(({ whole }) => whole))}: the model's stand-in ${shown(turns.map(({ model }) => model))}, the product ${shown(own)}, of which the daemon's tools take ${tools.toFixed(1)} ms on average`,
  );
  return { id: "agent.turn", ours: percentile(own, 0.95), runs: own.length };
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

/** The agents of a real daemon, with a model that answers at once. Memory comes last, when all is warm. */
export async function measureAgentTime(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const api = await startMessagesApi({ respond: () => says("There are two scripts.") });
  const side = await startAgentSide(sides, { api: api.url });
  try {
    return [
      await measureTurns(side, { api, note }),
      { id: "agent.lost", ours: await lostEvents(side), runs: atOnce },
      { id: "agent.memory", ours: await idleMegabytes(side), runs: idle },
    ];
  } finally {
    await side.close();
    await api.close();
  }
}
