import { useState } from "preact/hooks";
import type { RunMark } from "../../domain/execution.ts";
import { duration, moment } from "../../views/format.ts";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { Choice, Table, textsOf } from "../shell/listing.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Strip } from "../shell/strip.tsx";
import { lastFailed, runAllAgain } from "./again.ts";

type RunLine = RunMark & { kind: string; name: string; reason?: string; device?: string };
type ResultsReply = {
  counts: Record<string, number>;
  executions: RunLine[];
  more?: number;
  next?: string;
};
const texts = {
  ...{ name: "Whole name", device: "Device", userinterface_name: "App" },
  ...{ environment: "Environment", release: "Release", build: "Build" },
} as const;
type Text = keyof typeof texts;
type Filter = Record<"kind" | "status" | "tag" | Text, string>;

const kinds = ["testcase", "script", "navigation", "validation", "plan", "api", "actions", "investigation"];
const statuses = ["running", "queued", "passed", "failed", "error", "timeout", "cancelled"];
const nothingAsked: Filter = {
  ...{ kind: "", status: "", tag: "", name: "", device: "" },
  ...{ userinterface_name: "", environment: "", release: "", build: "" },
};
/** About a hundred lines. */
const pageTokens = 8_000;

/** Runs, newest first, by what is asked for. */
export function RunList() {
  const [filter, setFilter] = useState(nothingAsked);
  const [pages, setPages] = useState(1);
  // Not while it is typed: the space before the next word would go.
  const trimmed = Object.entries(filter).map(([key, value]) => [key, value.trim()] as const);
  const asked = Object.fromEntries(trimmed.filter(([, value]) => value !== ""));
  const runs = usePolled(
    JSON.stringify([asked, pages]),
    (signal) => search(asked, pages, signal),
    () => 4_000,
  );
  const names = [...new Set(runs.value?.executions.map(({ name }) => name))];
  const tags = usePolled("tags", loadTags, () => 60_000).value ?? [];
  const ask = (change: Partial<Filter>) => {
    setPages(1);
    setFilter({ ...filter, ...change });
  };
  return (
    <>
      <h1>Runs</h1>
      <FilterForm filter={filter} ask={ask} names={names} tags={textsOf([...tags, filter.tag])} />
      <Shown of={runs} what="runs">
        {({ executions, counts, more = 0 }) => (
          <>
            <p class="row" aria-live="polite">
              {Object.entries(counts).map(([status, count]) => (
                <span key={status}>
                  <Badge status={status} /> {count}
                </span>
              ))}
            </p>
            {executions.length === 0 ? (
              <NoRuns isFiltered={Object.keys(asked).length > 0} />
            ) : (
              <>
                {filter.name !== "" && <Strip runs={executions.slice(0, 100)} />}
                <FailedAgain runs={executions} done={runs.again} />
                <RunTable runs={executions} />
              </>
            )}
            {more > 0 && (
              <p>
                <button type="button" onClick={() => setPages(pages + 1)}>
                  Show older ones ({more} more)
                </button>
              </p>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

/** Those of all tests. */
async function loadTags(signal: AbortSignal): Promise<string[]> {
  const asked = { max_tokens: 50_000 };
  const { result } = await callTool<{ testcases: { tags?: string[] }[] }>("list_testcases", asked, signal);
  return result.testcases.flatMap(({ tags = [] }) => tags);
}

/** The newest pages, one behind the other. */
async function search(
  asked: Record<string, string>,
  pages: number,
  signal: AbortSignal,
): Promise<ResultsReply> {
  let found: ResultsReply | undefined;
  for (let page = 0; page < pages && (found === undefined || found.next !== undefined); page++) {
    const { result } = await callTool<ResultsReply>(
      "get_execution_results",
      { ...asked, max_tokens: pageTokens, ...(found?.next !== undefined && { before: found.next }) },
      signal,
    );
    found = { ...result, executions: [...(found?.executions ?? []), ...result.executions] };
  }
  return found ?? { counts: {}, executions: [] };
}

/** Starts the tests again whose last run in the list did not pass. */
function FailedAgain({ runs, done }: { runs: readonly RunLine[]; done(): void }) {
  const [said, setSaid] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const failed = lastFailed(runs);
  const start = async () => {
    setBusy(true);
    const { started, refused } = await runAllAgain(failed);
    setSaid([`Started ${started}.`, ...refused]);
    setBusy(false);
    done();
  };
  return (
    <div class="row">
      {failed.length > 0 && (
        <button type="button" disabled={isBusy} onClick={() => void start()}>
          Run the failed ones again ({failed.length})
        </button>
      )}
      <ul aria-live="polite">
        {said.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) => (
  <Empty>
    {isFiltered ? (
      "No run matches. Clear the filter to see all."
    ) : (
      <>
        No runs yet. Start some with <code>labwright run</code>, or ask an agent.
      </>
    )}
  </Empty>
);

/** `names` are offered while one is typed. Without `tags` there is no choice of one. */
function FilterForm({
  filter,
  names,
  tags,
  ask,
}: {
  filter: Filter;
  names: readonly string[];
  tags: readonly string[];
  ask(change: Partial<Filter>): void;
}) {
  return (
    <form class="stack" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="filter">
        <legend class="soft small">Filter</legend>
        <Choice
          label="Status"
          value={filter.status}
          options={statuses}
          choose={(status) => ask({ status })}
        />
        <Choice label="Kind" value={filter.kind} options={kinds} choose={(kind) => ask({ kind })} />
        {tags.length > 0 && (
          <Choice label="Tag" value={filter.tag} options={tags} choose={(tag) => ask({ tag })} />
        )}
        {(Object.keys(texts) as Text[]).map((name) => (
          <label key={name}>
            {texts[name]}
            <input
              value={filter[name]}
              list={name === "name" ? "names" : undefined}
              onInput={(event) => ask({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <datalist id="names">
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </fieldset>
    </form>
  );
}

const RunTable = ({ runs }: { runs: readonly RunLine[] }) => (
  <Table
    titles={["Run", "Status", "Device", "Started", "Took"]}
    rows={runs.map(({ execution_id: id, name, kind, status, flaky, reason, device, ...times }) => [
      <>
        <a href={addressOf({ room: "runs", id })}>{name}</a> <span class="soft small">{kind}</span>
      </>,
      <>
        <Badge status={status} /> {flaky && <Badge status="flaky" />} <span class="small">{reason}</span>
      </>,
      device,
      moment(times.started_at),
      duration(times.duration_ms),
    ])}
  />
);
