import { useState } from "preact/hooks";
import { Badge, Empty, Problem, Shown } from "../../views/states.tsx";
import { asFailure, Failure, read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { Questions } from "./questions.tsx";
import { Say } from "./say.tsx";
import { type Line, linesOf, sessions, type TalkEvent } from "./talk.ts";

type Reply = {
  session: {
    id: string;
    title: string;
    agent: string;
    owner: string;
    skill: string | null;
    cost_usd: number;
  };
  said: string[];
  events: TalkEvent[];
  /** The last message that was read. */
  messages: number;
};

/** What was said and done, as it comes, with what it asks. A person's own one takes messages. */
export function Conversation({ id }: { id: string }) {
  const talk = usePolled<Reply & { isWhole: boolean }>(
    id,
    async (signal, before) => {
      const after = `events=${before?.events.at(-1)?.seq ?? 0}&messages=${before?.messages ?? 0}`;
      const next = await read<Reply>(`agent/conversations/${encodeURIComponent(id)}?${after}`, signal);
      const said = [...(before?.said ?? []), ...next.said];
      const isWhole = next.events.length === 0 && next.messages === (before?.messages ?? 0);
      return { ...next, said, events: [...(before?.events ?? []), ...next.events], isWhole };
    },
    (reply) => (reply && !reply.isWhole ? 200 : 1_500),
  );
  return (
    <Shown of={talk} what="the conversation">
      {({ session, said, events }) => {
        const { lines, isOver, options } = linesOf(said, events);
        return (
          <>
            <h1>{session.title || "Conversation"}</h1>
            <p class="row">
              <Badge status={isOver ? "over" : "running"} />
              <span class="soft">
                {[session.agent, session.skill, `$${session.cost_usd.toFixed(2)}`]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </p>
            <Lines lines={lines} />
            <Questions session={id} />
            {session.owner === "local" && (
              <Reply id={id} isOver={isOver} options={options} again={talk.again} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

function Reply({
  id,
  isOver,
  options,
  again,
}: {
  id: string;
  isOver: boolean;
  options: string[];
  again(): void;
}) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (work: Promise<unknown>) => {
    setBusy(true);
    setFailure(await work.then(() => undefined, asFailure));
    setBusy(false);
    again();
  };
  const say = (text: string) => void attempt(send("POST", `${sessions}/${id}/messages`, { text }));
  const stop = async () => {
    const { interrupted } = await send<{ interrupted: boolean }>("POST", `${sessions}/${id}/interrupt`);
    if (interrupted) return;
    const message =
      "Nothing runs here: another program, such as labwright chat, has this conversation, or had it.";
    throw new Failure("NOT_RUNNING", message, "Stop it there, or send a message.");
  };
  return (
    <section class="card" aria-label="Reply">
      {failure && <Problem failure={failure} />}
      {isOver && options.length > 0 && (
        <div class="row">
          {options.map((option) => (
            <button key={option} type="button" disabled={isBusy} onClick={() => say(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
      <Say label="Your message" isBusy={isBusy} say={say} />
      {!isOver && (
        <div class="row">
          <button type="button" disabled={isBusy} onClick={() => void attempt(stop())}>
            Stop
          </button>
        </div>
      )}
    </section>
  );
}

const Lines = ({ lines }: { lines: readonly Line[] }) =>
  lines.length === 0 ? (
    <Empty>Nothing was said yet.</Empty>
  ) : (
    <ol class="steps" aria-label="What was said" aria-live="polite">
      {lines.map((line, at) => (
        <li key={`${at}`} class={line.by === "note" ? "soft small" : "card"}>
          {line.folded === undefined ? (
            <Said {...line} />
          ) : (
            <Folded {...line} text={line.folded} title={line.text} />
          )}
        </li>
      ))}
    </ol>
  );

const speakers = { you: "You: ", agent: "Agent: ", note: "" };

const Said = ({ by, text, isBad }: Line) => (
  <p class={isBad ? "said note bad" : "said"}>
    <strong>{speakers[by]}</strong>
    {text}
  </p>
);

const Folded = ({ title, text, isBad }: Pick<Line, "text" | "isBad"> & { title: string }) => (
  <details>
    <summary class={isBad ? "note bad" : ""}>{title}</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
    <pre tabIndex={0}>{text}</pre>
  </details>
);
