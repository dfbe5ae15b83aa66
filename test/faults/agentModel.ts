import { calls, says } from "../fixtures/messagesApi/reply.ts";
import type { Respond } from "../fixtures/messagesApi/script.ts";
import { pressActions } from "./pressSite.ts";

/** A model that presses on each device that its request names, one after the other, whatever the tools answer. */
export const agentModel =
  (url: string): Respond =>
  (_request, { firstText, turn }) => {
    const devices = [...firstText.matchAll(/\b[wv]\d\b/g)].map(([name]) => name);
    const [who = "agent"] = /agent-\d+/.exec(firstText) ?? [];
    const device = devices[turn];
    if (device === undefined) return says("Done.");
    return calls("execute_device_action", { device_id: device, actions: pressActions(url, device, who) });
  };
