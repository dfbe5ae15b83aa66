import type { AgentEvent } from "../../agent-client/src/events.ts";
import { openModels } from "../../agent-client/src/model/models.ts";
import { settingsSchema } from "../../agent-client/src/settings.ts";
import { answers, fakeLab, hostsOf, openTalk } from "../fixtures/agentLab.ts";
import { modelsAt } from "../fixtures/agentLoop.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import { byConversation } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { type ProductParts, partsIn } from "./productParts.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { percentile } from "./statistics.ts";

const turns = { measured: 200, warmUps: 50, history: 20 };
const sessions = 50;
const expected = ["skill_loaded", "tool_call", "tool_result", "message", "session_ended"];
const device = hostsOf({ id: "lab/browser", model: "web" });
const lab = (parts: ProductParts) =>
  fakeLab(({ name }) => (name === "list_hosts" ? device : answers("done")), parts);

/** A reply as the API streams it, there at once. */
const reply = [
  [
    "message_start",
    {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-5-5",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 900, output_tokens: 1 },
      },
    },
  ],
  ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
  ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "It passed." } }],
  ["content_block_stop", { index: 0 }],
  ["message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 4 } }],
  ["message_stop", {}],
] as const;
const stream = reply
  .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  .join("");

/** Milliseconds of a message's one turn, from its arrival to its end, with a model and tools that take no time. */
async function turnTimes(parts: ProductParts): Promise<number[]> {
  const models = openModels({
    settings: settingsSchema.parse({}),
    env: { ANTHROPIC_API_KEY: "none" },
    keyFile: "",
    fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  });
  const times: number[] = [];
  const { conversations, say } = openTalk(lab(parts).server, models, parts);
  const start = async () => {
    let id: string | undefined;
    for (let at = 0; at < turns.history / 2; at++)
      ({ id } = await say("Run the script goto on lab/browser", id));
    return id;
  };
  for (let round = -turns.warmUps; round < turns.measured; round++) {
    // Each on a history of the same length.
    const id = await start();
    const begun = performance.now();
    const { ended } = await say("and run the script goto again on lab/browser", id);
    if (round >= 0) times.push(performance.now() - begun);
    if (ended.outcome !== "done") throw new Error(`a turn ended ${ended.outcome}`);
  }
  await conversations.close();
  return times;
}

/** How many events of many conversations at once came out of order, twice or not at all. */
async function lostEvents(parts: ProductParts): Promise<number> {
  const steps = [calls("get_compatible_hosts", { userinterface_name: "shop" }), says("passed")];
  const api = await startMessagesApi({ respond: byConversation(() => steps) });
  const { conversations } = openTalk(lab(parts).server, modelsAt(api.url), parts);
  const lost = await Promise.all(
    Array.from({ length: sessions }, async (_, at) => {
      const { id } = await conversations.create({ owner: "bench" });
      const events: AgentEvent[] = [];
      await conversations.subscribe(id, "bench", (event) => events.push(event));
      await conversations.send(id, "bench", { text: `Run the script number_${at} on lab/browser` });
      await conversations.ended(id, "bench");
      const kinds = new Set<string>(events.map(({ type }) => type));
      const missing = expected.filter((type) => !kinds.has(type));
      return missing.length + events.filter(({ seq }, index) => seq !== index + 1).length;
    }),
  );
  await conversations.close();
  await api.close();
  return lost.reduce((total, one) => total + one, 0);
}

export async function measureAgentTime({ root }: Sides): Promise<Measurement[]> {
  const parts = partsIn(root);
  const times = await turnTimes(parts);
  return [
    { id: "agents.turn", ours: percentile(times, 0.95), runs: times.length },
    { id: "agents.lost", ours: await lostEvents(parts), runs: sessions },
  ];
}
