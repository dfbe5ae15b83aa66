import { getModel } from "../fixtures/messagesApi/models.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import type { Respond } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { countBlock, countText } from "../fixtures/messagesApi/tokens.ts";
import { startAgentSide } from "./agentSide.ts";
import { startNodeRed } from "./nodeRed.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

/** A model with the smallest context that there is. */
const model = "claude-haiku-4-5";
const facts = getModel(model);
const contextTokens = 200_000;
const messages = 20;
const device_id = "lab/browser";
/** Ten turns a message: two dumps and a picture among them. */
const steps = [
  calls("take_control", { device_id }),
  calls("list_actions", { device_id }),
  calls("dump_ui_elements", { device_id }),
  calls("capture_screenshot", { device_id }),
  calls("list_actions", { device_id }),
  calls("list_actions", { device_id }),
  calls("list_actions", { device_id }),
  calls("dump_ui_elements", { device_id }),
  calls("list_actions", { device_id }),
  says("The editor shows its palette."),
];

/**
 * A long conversation in front of a dense editor, on a real daemon. Theirs is the input of the same when nothing is
 * shortened: each request holds the first one and everything that was said and answered since.
 */
export async function measureLongConversation(
  sides: Sides,
  note: (line: string) => void,
): Promise<Measurement[]> {
  let [turn, added] = [0, 0];
  const whole: number[] = [];
  const respond: Respond = (_, { results, usage }) => {
    const reply = turn === 0 ? open : steps[turn % steps.length];
    const first = whole[0] ?? usage.input_tokens + usage.cache_creation_input_tokens;
    added += results.reduce((total, block) => total + countBlock(block, facts), 0);
    whole.push(first + added);
    added += reply ? countText(JSON.stringify(reply), facts) : 0;
    turn += 1;
    return reply ?? says("");
  };
  const app = await startNodeRed(sides.root, sides.scratch);
  const open = calls("execute_device_action", {
    device_id,
    actions: [{ command: "navigate_to_url", params: { url: app.url } }],
  });
  const api = await startMessagesApi({ respond });
  const side = await startAgentSide(sides, { api: api.url, model });
  try {
    const session = await side.open();
    for (let message = 0; message < messages; message++)
      await side.say(session, `Look at the editor in ${device_id}, part ${message}`, "control-device");
    if (api.refused.length > 0) throw new Error(`refused: ${api.refused[0]?.message}`);
    const inputs = api.requests.map(
      ({ usage }) => usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
    );
    const largest = Math.max(...inputs);
    note(
      `agent: ${inputs.length} turns on ${model}: the largest prompt has ${largest} tokens of ${contextTokens}; unshortened it has ${whole.at(-1)}`,
    );
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    return [{ id: "agent.long", ours: sum(inputs), theirs: sum(whole), runs: inputs.length }];
  } finally {
    await side.close();
    await api.close();
    await app.close();
  }
}
