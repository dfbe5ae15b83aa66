import { useState } from "preact/hooks";
import { useAttempt } from "../../views/attempt.tsx";
import { type RunLine, RunTable } from "../../views/runs.tsx";
import { Empty, Shown } from "../../views/states.tsx";
import { Lines } from "../../views/text.tsx";
import { callTool } from "../shell/api.ts";
import { RunLink } from "../shell/detail.tsx";
import { Choice, Counts, textsOf } from "../shell/listing.tsx";
import { usePolled } from "../shell/polled.ts";
import { findRuns, Strip } from "../shell/strip.tsx";
import { lastFailed, runAllAgain } from "./again.ts";

const texts = {
  ...{ name: "Whole name", device: "Device", userinterface_name: "App" },
  ...{ environment: "Environment", release: "Release", build: "Build" },
} as const;
type Text = keyof typeof texts;
type Filter = Record<"kind" | "status" | "tag" | Text, string>;

const kinds = ["testcase", "script", "navigation", "validation", "plan", "api", "investigation"];
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
  const runs = usePolled(JSON.stringify([asked, pages]), (signal) => search(asked, pages, signal), 4_000);
  const names = [...new Set(runs.value?.executions.map(({ name }) => name))];
  const tags = usePolled("tags", loadTags, 60_000).value ?? [];
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
            <Counts of={counts} />
            {executions.length === 0 ? (
              <NoRuns isFiltered={Object.keys(asked).length > 0} />
            ) : (
              <>
                {filter.name !== "" && <Strip runs={executions.slice(0, 100)} />}
                <FailedAgain runs={executions} done={runs.again} />
                <RunTable
                  runs={executions}
                  nameOf={({ execution_id, name }) => <RunLink id={execution_id}>{name}</RunLink>}
                />
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
  type Found = { testcases: { tags?: string[] }[] };
  const { testcases } = await callTool<Found>("list_testcases", asked, signal);
  return testcases.flatMap(({ tags = [] }) => tags);
}

/** The newest pages, one behind the other. Single actions, of which an agent makes hundreds, are shown only where they are asked for. */
async function search(given: Record<string, string>, pages: number, signal: AbortSignal) {
  const asked = { ...given, max_tokens: pageTokens, ...(given.kind === undefined && { kinds }) };
  let found = await findRuns(asked, signal);
  for (let page = 1; page < pages && found.next !== undefined; page++) {
    const older = await findRuns({ ...asked, before: found.next }, signal);
    found = { ...older, executions: [...found.executions, ...older.executions] };
  }
  return found;
}

/** Starts the tests again whose last run in the list did not pass. */
function FailedAgain({ runs, done }: { runs: readonly RunLine[]; done(): void }) {
  const [said, setSaid] = useState<string[]>([]);
  const { isBusy, attempt } = useAttempt(done);
  const failed = lastFailed(runs);
  const start = async () => setSaid(await runAllAgain(failed));
  return (
    <div class="row">
      {failed.length > 0 && (
        <button type="button" disabled={isBusy} onClick={() => attempt(start)}>
          Run the failed ones again ({failed.length})
        </button>
      )}
      <div aria-live="polite">
        <Lines lines={said} />
      </div>
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
type FilterProps = {
  filter: Filter;
  names: readonly string[];
  tags: readonly string[];
  ask(change: Partial<Filter>): void;
};

function FilterForm({ filter, names, tags, ask }: FilterProps) {
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
        <Choice
          label="Kind"
          value={filter.kind}
          options={[...kinds, "actions"]}
          choose={(kind) => ask({ kind })}
        />
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
