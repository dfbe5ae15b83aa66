import { useAttempt } from "../../views/attempt.tsx";
import { Badge, Empty, Failure, Shown } from "../../views/states.tsx";
import { Scrolled } from "../../views/text.tsx";
import { read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { Questions } from "./questions.tsx";
import { Say } from "./say.tsx";
import { type Line, linesOf, sessions, type TalkEvent } from "./talk.ts";

/** `messages`: the last one that was read. */
type Reply = {
  session: { title: string; agent: string; owner: string; skill: string | null; cost_usd: number };
  said: string[];
  events: TalkEvent[];
  messages: number;
};

const nothing: Pick<Reply, "said" | "events" | "messages"> = { said: [], events: [], messages: 0 };

/** What was said and done, as it comes, with what it asks. A person's own one takes messages. */
export function Conversation({ id, isPart }: { id: string; isPart?: boolean }) {
  const talk = usePolled<Reply & { isWhole: boolean }>(
    id,
    async (signal, before) => {
      const { said, events, messages } = before ?? nothing;
      const after = `events=${events.at(-1)?.seq ?? 0}&messages=${messages}`;
      const next = await read<Reply>(`agent/conversations/${id}?${after}`, signal);
      const isWhole = next.events.length === 0 && next.messages === messages;
      return { ...next, said: [...said, ...next.said], events: [...events, ...next.events], isWhole };
    },
    (reply) => (reply && !reply.isWhole ? 200 : 1_500),
  );
  return (
    <Shown of={talk} what="the conversation">
      {({ session, said, events }) => {
        const { lines, isOver, options } = linesOf(said, events);
        const facts = [session.agent, session.skill, `$${session.cost_usd.toFixed(2)}`];
        return (
          <>
            {isPart ? <h2>Conversation</h2> : <h1>{session.title || "Conversation"}</h1>}
            <p class="row">
              <Badge status={isOver ? "ended" : "running"} />
              <span class="soft">{facts.filter(Boolean).join(" · ")}</span>
            </p>
            <Lines lines={lines} you={session.owner === "local" ? "You" : "Event"} />
            <Questions session={id} />
            {session.owner === "local" && (
              <Answer id={id} isOver={isOver} options={options} again={talk.again} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

async function stop(id: string): Promise<void> {
  const { interrupted } = await send<{ interrupted: boolean }>("POST", `${sessions}/${id}/interrupt`);
  if (interrupted) return;
  const message = "Nothing runs here. Another program, such as labwright chat, may run this conversation.";
  throw new Failure("NOT_RUNNING", message, "Stop it there, or send a message.");
}

type AnswerProps = { id: string; isOver: boolean; options: string[]; again(): void };

function Answer({ id, isOver, options, again }: AnswerProps) {
  const { problem, isBusy, attempt } = useAttempt(again);
  const say = (text: string) => attempt(() => send("POST", `${sessions}/${id}/messages`, { text }));
  return (
    <section class="card" aria-label="Reply">
      {problem}
      <div class="row" hidden={isOver && options.length === 0}>
        {(isOver ? options : []).map((option) => (
          <button key={option} type="button" disabled={isBusy} onClick={() => say(option)}>
            {option}
          </button>
        ))}
        {!isOver && (
          <button type="button" disabled={isBusy} onClick={() => attempt(() => stop(id))}>
            Stop
          </button>
        )}
      </div>
      <Say label="Your message" isBusy={isBusy} say={say} />
    </section>
  );
}

const Lines = ({ lines, you }: { lines: readonly Line[]; you: string }) =>
  lines.length === 0 ? (
    <Empty>Nothing was said yet.</Empty>
  ) : (
    <ol class="steps" aria-label="What was said" aria-live="polite">
      {lines.map((line, at) => (
        <li key={`${at}`} class={line.by === "note" ? "soft small" : "card"}>
          {line.folded === undefined ? <Said {...line} you={you} /> : <Folded {...line} />}
        </li>
      ))}
    </ol>
  );

const Said = ({ by, text, isBad, you }: Line & { you: string }) => (
  <p class={isBad ? "said note bad" : "said"}>
    {by !== "note" && <strong>{by === "you" ? you : "Agent"}: </strong>}
    {text}
  </p>
);

const Folded = ({ text, folded, isBad }: Line) => (
  <details>
    <summary class={isBad ? "note bad" : ""}>{text}</summary>
    <Scrolled text={folded ?? ""} />
  </details>
);
