import { moment, textOf } from "../../views/format.ts";
import { Badge, Empty } from "../../views/states.tsx";
import { Table } from "../../views/table.tsx";
import { callTool } from "../shell/api.ts";
import { type Action, Actions, Detail, FactsPart, Part, RunLink } from "../shell/detail.tsx";
import { Listing } from "../shell/listing.tsx";
import { addressOf } from "../shell/route.ts";

type Schedule = {
  deployment_id: string;
  name: string;
  status: "active" | "paused" | "completed";
  device_id: string;
  next_due?: string;
  testcase?: string;
  script?: string;
  cron?: string;
  timezone?: string;
  dates?: number;
  started: number;
  max_executions?: number;
  last?: string;
};
type History = {
  call: { tool: string; arguments: Record<string, unknown> };
  runs: { due_at: string; status: string; execution_id?: string; reason?: string }[];
  more?: number;
};

const max_tokens = 50_000;

async function load(signal: AbortSignal) {
  type Found = { deployments: Schedule[]; more?: number };
  const { deployments: items, more } = await callTool<Found>("list_deployments", { max_tokens }, signal);
  return { items, more };
}

const whenOf = ({ cron, timezone, dates }: Schedule) =>
  [cron && `${cron} (${timezone})`, dates && `${dates} single dates`].filter(Boolean).join(", ");

const lastOf = ({ last }: Schedule) => (last === undefined ? "no run yet" : <Badge status={last} />);
const nextOf = ({ next_due: next }: Schedule) => (next === undefined ? "" : `next ${moment(next)}`);

/** What runs when, with the last verdict of each. */
export const ScheduleList = () => (
  <Listing<Schedule>
    room="schedules"
    load={load}
    everyMs={5_000}
    idOf={(schedule) => schedule.deployment_id}
    nameOf={({ name }) => name}
    words={({ testcase, script, device_id }) => [testcase, script, device_id]}
    choices={{
      ...{ State: ({ status }) => [status], Device: (schedule) => [schedule.device_id] },
      "Last run": ({ last }) => [last],
    }}
    columns={{
      ...{ State: ({ status }) => <Badge status={status} />, Next: nextOf, "Last run": lastOf },
      ...{
        Runs: ({ testcase, script }) => testcase ?? script,
        Device: ({ device_id }) => device_id,
        When: whenOf,
      },
    }}
    empty={
      <>
        No schedules yet. Ask an agent to run a test every night, or call <code>create_deployment</code>.
      </>
    }
  />
);

/** A schedule with what became of its due times. */
export function SchedulePage({ id }: { id: string }) {
  return (
    <Detail
      room="schedules"
      id={id}
      every={3_000}
      load={async (signal) => {
        const [{ items }, history] = await Promise.all([
          load(signal),
          callTool<History>("get_deployment_history", { deployment: id, max_tokens: 8_000 }, signal),
        ]);
        return { ...history, schedule: items.find((item) => item.deployment_id === id) };
      }}
      nameOf={({ schedule }) => schedule?.name ?? id}
    >
      {({ schedule, call, runs, more = 0 }, again) => (
        <>
          {schedule && (
            <Actions
              actions={actionsOf(schedule, call)}
              done={({ ask }) => (ask === undefined ? again() : leave())}
              ended={again}
            />
          )}
          <div class="split">
            <Part title="Due times">
              {runs.length === 0 && <Empty>No due time has come yet.</Empty>}
              <Table
                titles={["Due", "Verdict", "Why"]}
                rows={runs.map(({ due_at, status, execution_id: run, reason }) => [
                  run === undefined ? moment(due_at) : <RunLink id={run}>{moment(due_at)}</RunLink>,
                  <Badge status={status} />,
                  reason,
                ])}
              />
              {more > 0 && <p class="soft small">{more} older ones are not shown.</p>}
            </Part>
            {schedule && <ScheduleFacts schedule={schedule} inputs={call.arguments} />}
          </div>
        </>
      )}
    </Detail>
  );
}

const leave = () => location.assign(addressOf({ room: "schedules" }));

function actionsOf({ deployment_id: deployment, name, status }: Schedule, call: History["call"]): Action[] {
  const turn = status === "active" ? "pause" : "resume";
  return [
    { label: "Run now", tool: call.tool, args: { ...call.arguments, wait_ms: 0 }, isMain: true },
    ...(status === "completed"
      ? []
      : [{ label: turn === "pause" ? "Pause" : "Resume", tool: `${turn}_deployment`, args: { deployment } }]),
    {
      ...{ label: "Delete", tool: "delete_deployment", args: { deployment, confirm: true } },
      ask: `Delete the schedule "${name}" and its history? Its runs and reports stay.`,
    },
  ];
}

type FactsProps = { schedule: Schedule; inputs: History["call"]["arguments"] };

const ScheduleFacts = ({ schedule, inputs }: FactsProps) => {
  const { status, started, next_due: next, max_executions: max } = schedule;
  return (
    <FactsPart
      rows={[
        ["State", <Badge status={status} />],
        ["When", whenOf(schedule)],
        ["Next", next === undefined ? "none" : moment(next)],
        ["Runs so far", max === undefined ? String(started) : `${started} of ${max}`],
        ...Object.entries(inputs).map(([name, value]) => [name, textOf(value)] as const),
      ]}
    />
  );
};
