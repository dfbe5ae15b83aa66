import type { Question } from "../../domain/question.ts";
import { useAttempt } from "../../views/attempt.tsx";
import { moment } from "../../views/format.ts";
import { Shown } from "../../views/states.tsx";
import { Scrolled } from "../../views/text.tsx";
import { callTool, read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Say } from "./say.tsx";

const answerTo = ({ id, kind, investigation_id }: Question, answer: string): Promise<unknown> =>
  kind === "approval"
    ? send("POST", `/api/v1/agent/questions/${id}`, { answer })
    : callTool("resume_investigation", { investigation_id, handoff_id: id, answer, wait_ms: 0 });

/** What waits for a person: everything, or what one conversation asks. The first answer counts. */
export function Questions({ session }: { session?: string }) {
  const questions = usePolled(
    "questions",
    async (signal) => (await read<{ questions: Question[] }>("agent/questions", signal)).questions,
    1_500,
  );
  const { problem, isBusy, attempt } = useAttempt(questions.again);
  return (
    <section class="stack" aria-label="Questions">
      {problem}
      <Shown of={questions} what="questions">
        {(all) => {
          const open = all.filter(({ session_id }) => session === undefined || session_id === session);
          return (
            <>
              <p role="status" class={open.length > 0 ? "note warn" : "soft small"}>
                {open.length > 0 ? `Waiting for your answer: ${open.length}` : "No question waits for you."}
              </p>
              {open.map((question) => (
                <Card
                  key={`${question.investigation_id} ${question.id}`}
                  {...question}
                  isBusy={isBusy}
                  answer={(text) => attempt(() => answerTo(question, text))}
                />
              ))}
            </>
          );
        }}
      </Shown>
    </section>
  );
}

type CardProps = Question & { isBusy: boolean; answer(text: string): void };

const Card = ({ kind, from, text, details, options, isBusy, answer, ...rest }: CardProps) => (
  <article class="card" aria-label={`${from} asks`}>
    <p>
      <strong>{from}</strong> asks: {text}
    </p>
    {details.length > 0 && <Scrolled text={details.join("\n")} />}
    <div class="row">
      {options.map(({ name, title }) => (
        <button key={name} type="button" disabled={isBusy} onClick={() => answer(name)}>
          {title}
        </button>
      ))}
      {rest.expires_at && <span class="soft small">until {moment(rest.expires_at)}</span>}
      {rest.session_id && <a href={addressOf({ room: "agents", id: rest.session_id })}>Its conversation</a>}
    </div>
    {kind === "handoff" && <Say label="Answer in your words" isBusy={isBusy} say={answer} />}
  </article>
);
