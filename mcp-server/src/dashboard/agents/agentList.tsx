import { useState } from "preact/hooks";
import { moment } from "../../views/format.ts";
import { Badge, Empty, Problem, Shown } from "../../views/states.tsx";
import { asFailure, type Failure, read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Questions } from "./questions.tsx";
import { Field, Say } from "./say.tsx";
import { sessions } from "./talk.ts";
import type { TaskLine } from "./taskPage.tsx";

type Conversation = { id: string; title: string; agent: string; outcome: string | null; updated_at: string };
type Work = { tasks: TaskLine[]; conversations: Conversation[] };

/** What waits for a person, what can be asked, and what agents did, the latest first. */
export function AgentList() {
  const work = usePolled<Work>(
    "agents",
    async (signal) => {
      const [{ tasks }, { conversations }] = await Promise.all([
        read<Pick<Work, "tasks">>("agent/tasks", signal),
        read<Pick<Work, "conversations">>("agent/conversations", signal),
      ]);
      return { tasks, conversations };
    },
    () => 3_000,
  );
  return (
    <>
      <h1>Agents</h1>
      <Questions />
      <Begin />
      <Shown of={work} what="conversations and tasks">
        {({ tasks, conversations }) => (
          <>
            <Table
              title="Conversations"
              none="No conversations yet. Ask something above, or with labwright chat."
              rows={conversations.map(({ outcome, ...rest }) => ({
                ...rest,
                status: outcome === "needs_input" ? "waits for you" : (outcome ?? "new"),
              }))}
            />
            <Table
              title="Tasks"
              none="No tasks yet. Agents add one when an alert is raised or a run ends."
              rows={tasks.map((task) => ({ ...task, id: `${task.agent}/${task.key}`, status: task.state }))}
            />
          </>
        )}
      </Shown>
    </>
  );
}

const open = (id: string): undefined => {
  location.hash = addressOf({ room: "agents", id });
};

/** Starts a conversation or a task; suggestions are those that the devices at hand can run. */
function Begin() {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const suggested = usePolled(
    "suggestions",
    async () => (await send<{ suggestions: { text: string }[] }>("GET", `${sessions}?limit=1`)).suggestions,
    () => undefined,
  );
  const begin = async (work: () => Promise<string>) => {
    setBusy(true);
    setFailure(await work().then(open, asFailure));
    setBusy(false);
  };
  const ask = async (text: string) => {
    const { id } = await send<{ id: string }>("POST", sessions, {});
    await send("POST", `${sessions}/${id}/messages`, { text });
    return id;
  };
  const [app, setApp] = useState("");
  const [device, setDevice] = useState("");
  const run = async (task: string) => {
    const where = { ...(app && { userinterface_name: app }), ...(device && { device_ids: [device] }) };
    const path = "/api/v1/agent/task?wait=false";
    return `task/${(await send<{ task_id: string }>("POST", path, { task, ...where })).task_id}`;
  };
  return (
    <section class="card" aria-label="Start">
      <Say label="Ask an agent" isBusy={isBusy} say={(text) => void begin(() => ask(text))} />
      <Say
        label="Have a task done: it is planned, run and checked"
        button="Start"
        isBusy={isBusy}
        say={(text) => void begin(() => run(text))}
      >
        <Field label="App, if any" value={app} set={setApp} />
        <Field label="Device, if not any" value={device} set={setDevice} />
      </Say>
      {failure && <Problem failure={failure} />}
      <Shown of={suggested} what="suggestions">
        {(texts) => (
          <div class="row">
            {texts.map(({ text }) => (
              <button key={text} type="button" disabled={isBusy} onClick={() => void begin(() => ask(text))}>
                {text}
              </button>
            ))}
          </div>
        )}
      </Shown>
    </section>
  );
}

type Row = { id: string; title: string; agent: string; status: string; updated_at: string };

const Table = ({ title, none, rows }: { title: string; none: string; rows: readonly Row[] }) => (
  <section class="stack" aria-label={title}>
    <h2>{title}</h2>
    {rows.length === 0 ? (
      <Empty>{none}</Empty>
    ) : (
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">About</th>
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">
                <a href={addressOf({ room: "agents", id: row.id })}>{row.title || "untitled"}</a>
              </th>
              <td>
                <Badge status={row.status} />
              </td>
              <td>{row.agent}</td>
              <td>{moment(row.updated_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);
