import { useEffect, useState } from "preact/hooks";
import { useAttempt } from "../attempt.tsx";
import { Badge, Empty, Facts } from "../states.tsx";
import { show, type ViewProps } from "./host.tsx";

type Node = { id: string; label: string; type?: string; tree?: string; checks: number };
/** Of get_userinterface_complete; of preview_userinterface only `map`. */
type App = {
  name?: string;
  models?: string[];
  nodes?: Node[];
  edges?: { id: string; edge: string; actions: string }[];
  more?: number;
  map?: string;
};
/** Of get_node. */
type Details = {
  description?: string;
  subtree?: string;
  reliability: { action_set?: string; runs: number; success_rate: number }[];
};

/** An app's screens, and where each leads. Asks for the whole app, of which a call shows a part. */
function TreeView({ args, result, call }: ViewProps<App>) {
  const [app, setApp] = useState(result.structuredContent);
  const { problem, attempt } = useAttempt();
  const { userinterface_name } = args;
  const load = async () => {
    const whole = { userinterface_name, max_tokens: 50_000 };
    setApp((await call<App>("get_userinterface_complete", whole)).structuredContent);
  };
  const renew = () => attempt(load);
  useEffect(renew, []);
  const { nodes, edges = [], more = 0, map } = app ?? {};
  return (
    <>
      <h1>{app?.name ?? String(userinterface_name)}</h1>
      <div class="row">
        <button type="button" onClick={renew}>
          Renew
        </button>
        <span class="soft">{app?.models?.join(", ")}</span>
      </div>
      {problem}
      {nodes?.length === 0 && <Empty>This app has no screens yet.</Empty>}
      <ol class="steps">
        {nodes?.map((node) => (
          <Place
            key={node.id}
            node={node}
            ways={edges.filter(({ edge }) => edge.startsWith(`${node.label} `)).map(({ edge }) => edge)}
            load={async () =>
              (await call<Details>("get_node", { userinterface_name, node: node.id })).structuredContent
            }
          />
        ))}
      </ol>
      {!nodes && map !== undefined && <pre>{map}</pre>}
      {more > 0 && <p class="soft">{more} more are not shown.</p>}
    </>
  );
}
type PlaceProps = { node: Node; ways: readonly string[]; load(): Promise<Details | undefined> };

function Place({ node: { label, type, tree, checks }, ways, load }: PlaceProps) {
  const [details, setDetails] = useState<Details>();
  const { problem, attempt } = useAttempt();
  const open = () => attempt(async () => setDetails(await load()));
  return (
    <li>
      <details class="step" onToggle={({ currentTarget }) => currentTarget.open && !details && open()}>
        <summary>
          <span class="label">
            {label} <span class="soft small">{[type, tree].filter(Boolean).join(", ")}</span>
          </span>
          {checks === 0 ? (
            <Badge status="no checks" />
          ) : (
            <span class="soft small">{checks === 1 ? "1 check" : `${checks} checks`}</span>
          )}
        </summary>
        <div class="body">
          {problem}
          <p>{details?.description}</p>
          <ul>
            {ways.map((way) => (
              <li key={way}>{way}</li>
            ))}
          </ul>
          {details && (
            <Facts
              rows={details.reliability.map(({ action_set = "reached", runs, success_rate }) => [
                action_set,
                `${Math.round(success_rate * 100)} % of ${runs}`,
              ])}
            />
          )}
        </div>
      </details>
    </li>
  );
}

void show("tree", TreeView);
