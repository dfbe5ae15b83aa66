import { useState } from "preact/hooks";
import { useAttempt } from "../../views/attempt.tsx";
import { moment } from "../../views/format.ts";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Questions } from "./questions.tsx";
import { Field, Say } from "./say.tsx";
import { sessions } from "./talk.ts";
import type { TaskLine } from "./taskPage.tsx";

type Row = { id: string; title: string; agent: string; updated_at: string };
type Conversation = Row & { outcome: string | null };

/** What waits for a person, what can be asked, and what agents did, the latest first. */
export function AgentList() {
  const work = usePolled(
    "agents",
    async (signal) => ({
      ...(await read<{ tasks: TaskLine[] }>("agent/tasks", signal)),
      ...(await read<{ conversations: Conversation[] }>("agent/conversations", signal)),
    }),
    2_000,
  );
  return (
    <>
      <h1>Agents</h1>
      <Questions />
      <Begin />
      <Shown of={work} what="conversations and tasks">
        {({ tasks, conversations }) => (
          <>
            <List
              title="Conversations"
              none="No conversations yet. Ask something above, or with labwright chat."
              rows={conversations.map((row) => ({
                ...row,
                state: row.outcome === "needs_input" ? "waits for you" : (row.outcome ?? "new"),
              }))}
            />
            <List
              title="Tasks"
              none="No tasks yet. Agents add one when an alert is raised or a run ends."
              rows={tasks.map((task) => ({ ...task, id: `${task.agent}/${task.key}` }))}
            />
          </>
        )}
      </Shown>
    </>
  );
}

const List = ({ title, none, rows }: { title: string; none: string; rows: (Row & { state: string })[] }) => (
  <section class="stack" aria-label={title}>
    <h2>{title}</h2>
    {rows.length === 0 && <Empty>{none}</Empty>}
    <ul class="cards">
      {rows.map((row) => (
        <li key={row.id} class="card">
          <a href={addressOf({ room: "agents", id: row.id })}>{row.title || "untitled"}</a>
          <p class="row small">
            <Badge status={row.state} />
            <span class="soft">
              {row.agent}, {moment(row.updated_at)}
            </span>
          </p>
        </li>
      ))}
    </ul>
  </section>
);

const open = (id: string) => {
  location.hash = addressOf({ room: "agents", id });
};

async function ask(text: string): Promise<void> {
  const { id } = await send<{ id: string }>("POST", sessions, {});
  await send("POST", `${sessions}/${id}/messages`, { text });
  open(id);
}

/** Starts a conversation or a task. The suggestions are those that the devices at hand can run. */
function Begin() {
  const [app, setApp] = useState("");
  const [device, setDevice] = useState("");
  const { problem, isBusy, attempt } = useAttempt();
  const suggested = usePolled(
    "suggestions",
    async () => (await send<{ suggestions: { text: string }[] }>("GET", `${sessions}?limit=1`)).suggestions,
    undefined,
  );
  const run = async (task: string) => {
    const where = { ...(app && { userinterface_name: app }), ...(device && { device_ids: [device] }) };
    const begun = send<{ task_id: string }>("POST", "/api/v1/agent/task?wait=false", { task, ...where });
    open(`task/${(await begun).task_id}`);
  };
  return (
    <section class="card" aria-label="Start">
      <Say label="Ask an agent" isBusy={isBusy} say={(text) => attempt(() => ask(text))} />
      <Shown of={suggested} what="suggestions">
        {(texts) => (
          <div class="row">
            {texts.map(({ text }) => (
              <button key={text} type="button" disabled={isBusy} onClick={() => attempt(() => ask(text))}>
                {text}
              </button>
            ))}
          </div>
        )}
      </Shown>
      <Say label="Have a task done and checked" isBusy={isBusy} say={(task) => attempt(() => run(task))}>
        <Field label="App, if any" value={app} set={setApp} />
        <Field label="Device, if not any" value={device} set={setDevice} />
      </Say>
      {problem}
    </section>
  );
}
