import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { startPersonsBrowser } from "../../fixtures/personsBrowser.ts";
import { type CallTool, flows, playFlow, serveTodos } from "../../fixtures/recordedFlows.ts";
import { startNodeRed } from "../nodeRed.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";

const nodesSchema = z.array(z.looseObject({ type: z.string(), label: z.string().optional() }));
const firstFlow = [{ id: "f1", type: "tab", label: "Flow 1", disabled: false, info: "" }];

/** Ten flows of a script that acts like a person in apps of others, recorded and replayed; judged by what the apps then hold. */
export async function measureRecorder({
  sides,
  note,
}: Pick<Bench, "sides" | "note">): Promise<Measurement[]> {
  const server = sides.ours(await sides.newDataDir());
  const person = await startPersonsBrowser();
  const todomvc = await serveTodos();
  const red = await startNodeRed(sides.root, sides.scratch);
  const call: CallTool = async (name, args) => (await server.call(name, args)).structured ?? {};
  const emptyRed = async () => {
    const headers = { "content-type": "application/json" };
    await fetch(`${red.url}flows`, { method: "POST", headers, body: JSON.stringify(firstFlow) });
  };
  const tabs = async () => {
    const nodes = nodesSchema.parse(await (await fetch(`${red.url}flows`)).json());
    return nodes.flatMap(({ type, label = "" }) => (type === "tab" ? [label] : [])).toSorted();
  };
  let right = 0;
  try {
    await server.initialize();
    for (const flow of flows) {
      const isRed = flow.app === "node-red";
      const stage = {
        ...{ call, person, device: "browser" },
        ...(isRed
          ? { url: red.url, state: tabs, empty: emptyRed }
          : { ...todomvc, url: todomvc.url(flow.app) }),
      };
      const played = await playFlow(flow, stage).catch((error: unknown) => ({ error: String(error) }));
      const isRight =
        !("error" in played) &&
        played.status.startsWith("passed") &&
        [played.recorded, played.replayed].every((state) => isDeepStrictEqual(state, flow.holds));
      if (isRight) right++;
      else note(`recorder: ${flow.app}, ${flow.name}: ${JSON.stringify(played, undefined, 1)}`);
    }
  } finally {
    await Promise.allSettled([server.end(), person.close(), todomvc.close(), red.close()]);
  }
  return [{ id: "recorder.flows", ours: right, runs: flows.length }];
}
