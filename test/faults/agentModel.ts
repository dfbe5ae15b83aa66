import { calls, says } from "../fixtures/messagesApi/reply.ts";
import type { Context, Respond } from "../fixtures/messagesApi/script.ts";
import { pressActions } from "./pressSite.ts";

/** A model that takes each device that its request names, presses there and gives it back, whatever the tools answer. */
export function agentModel(url: string): Respond {
  return (_request, context) => {
    const { firstText, turn } = context;
    const devices = [...firstText.matchAll(/\b[wv]\d\b/g)].map(([name]) => name);
    const [who = "agent"] = /agent-\d+/.exec(firstText) ?? [];
    const device = devices[Math.floor(turn / 2)];
    if (device === undefined) return says("Done.");
    if (turn % 2 === 0) return calls("take_control", { device_id: device });
    const session_id = sessionIn(context);
    // Someone else has it: the model looks on, and goes to the next.
    if (session_id === undefined) return calls("list_actions", { device_id: device });
    return calls("execute_device_action", { session_id, actions: pressActions(url, device, who) });
  };
}

const sessionIn = ({ results }: Context): string | undefined =>
  /session_id: (\S+)/.exec(JSON.stringify(results).replaceAll("\\n", " "))?.[1];
