import type { Reliability } from "../../domain/appMap.ts";
import { textOf } from "../../views/format.ts";
import { Shown } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { type Action, Actions } from "../shell/detail.tsx";
import { usePolled } from "../shell/polled.ts";
import { type AppViewProps, inWords, type MapEdge, type MapNode } from "./outline.ts";
import { Ways } from "./placeList.tsx";

type Step = { command: string; params: Record<string, unknown> };
type NodeReply = { verifications?: Step[]; reliability: Reliability[] };
type ActionSet = { id: string; direction: "forward" | "reverse"; actions: Step[] };
type EdgeReply = { source: string; target: string; action_sets: ActionSet[]; reliability: Reliability[] };
/** Steps with how reliable they were, and the tool that runs them. */
type Part = { title: string; steps: Step[]; reliability: Reliability[]; run: Action };
type Asked = { userinterface_name: string };

export async function partsOfPlace({ id, label }: MapNode, app: Asked, signal: AbortSignal): Promise<Part[]> {
  const asked = { ...app, node: id };
  const { verifications: steps = [], reliability } = await callTool<NodeReply>("get_node", asked, signal);
  const run = { label: `Go to ${label}`, tool: "navigate_to_node", args: asked, isMain: true };
  return [{ title: "Checks", steps, reliability, run }];
}

export async function partsOfWay({ id }: MapEdge, app: Asked, signal: AbortSignal): Promise<Part[]> {
  const asked = { ...app, edge: id };
  const edge = await callTool<EdgeReply>("get_edge", asked, signal);
  return edge.action_sets.map(({ id: action_set, direction, actions: steps }) => ({
    title: direction === "forward" ? `To ${edge.target}` : `Back to ${edge.source}`,
    steps,
    reliability: edge.reliability.filter((one) => one.action_set === action_set),
    run: { label: "Run it", tool: "execute_edge", args: { ...asked, action_set } },
  }));
}

/** A place or a way: its picture, what it does, how reliable that was, and buttons that do it on a device. */
export function Chosen(given: {
  title: string;
  picture?: string | undefined;
  load(signal: AbortSignal): Promise<Part[]>;
  ways?: AppViewProps & { from: string };
  device: string;
  ended(): void;
}) {
  const { title, picture, load, ways, device, ended } = given;
  const parts = usePolled(title, load, undefined);
  return (
    <>
      <h2>{title}</h2>
      {picture && <img src={picture} alt={`How ${title} looks`} />}
      <Shown of={parts} what={title}>
        {(found) =>
          found.map(({ title: name, steps, reliability, run }) => (
            <section class="stack" key={name}>
              <h3>{name}</h3>
              {steps.length === 0 && <p class="soft">none</p>}
              {steps.map(({ command, params }, at) => (
                <p key={at}>
                  {command} <span class="soft">{Object.values(params).map(textOf).join(", ")}</span>
                </p>
              ))}
              {reliability.map((one) => (
                <p class="soft small" key={one.action_set}>
                  {inWords(one)}
                </p>
              ))}
              <Actions
                actions={
                  device === "" ? [] : [{ ...run, args: { ...run.args, device_id: device, wait_ms: 0 } }]
                }
                ended={ended}
              />
            </section>
          ))
        }
      </Shown>
      {ways && (
        <p class="row">
          <Ways {...ways} />
        </p>
      )}
    </>
  );
}
