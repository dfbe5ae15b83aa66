import { useState } from "preact/hooks";
import type { Reliability } from "../../domain/appMap.ts";
import type { RunView } from "../../domain/runView.ts";
import { Badge, Problem, Shown } from "../../views/states.tsx";
import { asFailure, callTool, type Failure, read } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { type AppViewProps, inWords, type MapEdge, type MapNode } from "./outline.ts";
import { Ways } from "./placeList.tsx";

type Step = { command: string; params: Record<string, unknown> };
type NodeReply = { verifications?: Step[]; reliability: Reliability[] };
type ActionSet = { id: string; direction: "forward" | "reverse"; actions: Step[] };
type EdgeReply = { source: string; target: string; action_sets: ActionSet[]; reliability: Reliability[] };
/** Steps with how reliable they were, and the tool that runs them. */
type Part = {
  title: string;
  steps: Step[];
  reliability: Reliability[];
  run: Omit<RunProps, "device" | "ended">;
};
type Asked = { userinterface_name: string };

export async function partsOfPlace({ id, label }: MapNode, app: Asked, signal: AbortSignal): Promise<Part[]> {
  const asked = { ...app, node: id };
  const { verifications: steps = [], reliability } = (await callTool<NodeReply>("get_node", asked, signal))
    .result;
  const run = { label: `Go to ${label}`, tool: "navigate_to_node", args: asked };
  return [{ title: "Checks", steps, reliability, run }];
}

export async function partsOfWay({ id }: MapEdge, app: Asked, signal: AbortSignal): Promise<Part[]> {
  const asked = { ...app, edge: id };
  const { result: edge } = await callTool<EdgeReply>("get_edge", asked, signal);
  return edge.action_sets.map(({ id: action_set, direction, actions: steps }) => ({
    title: direction === "forward" ? `To ${edge.target}` : `Back to ${edge.source}`,
    steps,
    reliability: edge.reliability.filter((one) => one.action_set === action_set),
    run: { label: "Run it", tool: "execute_edge", args: { ...asked, action_set } },
  }));
}

/** A place or a way: its picture, what it does, how reliable that was, and buttons that do it on a device. */
export function Chosen({
  title,
  picture,
  load,
  ways,
  ...on
}: {
  title: string;
  picture?: string | undefined;
  load(signal: AbortSignal): Promise<Part[]>;
  ways?: AppViewProps & { from: string };
} & Pick<RunProps, "device" | "ended">) {
  const parts = usePolled(title, load, () => undefined);
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
              <Run {...run} {...on} />
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

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

type RunProps = { label: string; tool: string; args: object; device: string; ended(): void };

/** Starts a run on a device, and follows it to its end. */
function Run({ label, tool, args, device, ended }: RunProps) {
  const [run, setRun] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const start = async () => {
    const asked = { ...args, device_id: device, wait_ms: 0 };
    await callTool<{ execution_id: string }>(tool, asked).then(
      ({ result }) => {
        setFailure(undefined);
        setRun(result.execution_id);
      },
      (error) => setFailure(asFailure(error)),
    );
  };
  return (
    <>
      <p>
        <button type="button" class="main" disabled={device === ""} onClick={() => void start()}>
          {label}
        </button>
      </p>
      {failure && <Problem failure={failure} />}
      {run !== undefined && <Followed key={run} id={run} ended={ended} />}
    </>
  );
}

const isOpen = (run: RunView | undefined) => run?.status === "running" || run?.status === "queued";

function Followed({ id, ended }: { id: string; ended(): void }) {
  const run = usePolled<RunView>(
    id,
    async (signal) => {
      const view = await read<RunView>(`executions/${id}?after=1000000`, signal);
      if (!isOpen(view)) ended();
      return view;
    },
    (view) => (view === undefined || isOpen(view) ? 1_000 : undefined),
  );
  return (
    <div aria-live="polite">
      <Shown of={run} what="the run">
        {({ status, doing, reason }) => (
          <p>
            <Badge status={status} /> {doing} {reason?.message}{" "}
            <a href={addressOf({ room: "runs", id })}>See the run</a>
          </p>
        )}
      </Shown>
    </div>
  );
}
