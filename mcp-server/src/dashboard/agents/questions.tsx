import { useState } from "preact/hooks";
import { moment } from "../../views/format.ts";
import { Problem, Shown } from "../../views/states.tsx";
import { asFailure, callTool, type Failure, read, send } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Say } from "./say.tsx";

type Question = {
  id: string;
  kind: "approval" | "handoff";
  from: string;
  text: string;
  details: string[];
  options: { name: string; title: string }[];
  expires_at?: string;
  session_id?: string;
  investigation_id?: string;
};

const answerTo = ({ id, kind, investigation_id }: Question, answer: string): Promise<unknown> =>
  kind === "approval"
    ? send("POST", `/api/v1/agent/questions/${id}`, { answer })
    : callTool("resume_investigation", { investigation_id, handoff_id: id, answer, wait_ms: 0 });

/** What waits for a person: everything, or what one conversation asks. Each is answered once, by whoever is first. */
export function Questions({ session }: { session?: string | undefined }) {
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState<Question>();
  const questions = usePolled(
    "questions",
    async (signal) => (await read<{ questions: Question[] }>("agent/questions", signal)).questions,
    () => 2_000,
  );
  const answer = async (question: Question, text: string) => {
    setBusy(question);
    setFailure(await answerTo(question, text).then(() => undefined, asFailure));
    setBusy(undefined);
    questions.again();
  };
  return (
    <>
      {failure && <Problem failure={failure} />}
      <Shown of={questions} what="questions">
        {(all) => {
          const open = all.filter(({ session_id }) => session === undefined || session_id === session);
          return (
            <section class="stack" aria-label="Questions">
              <p role="status" class={open.length > 0 ? "note warn" : "soft small"}>
                {open.length === 0 ? "No question waits for you." : `Waiting for your answer: ${open.length}`}
              </p>
              {open.map((question) => (
                <Card
                  key={`${question.investigation_id} ${question.id}`}
                  question={question}
                  isBusy={busy !== undefined}
                  answer={(text) => void answer(question, text)}
                />
              ))}
            </section>
          );
        }}
      </Shown>
    </>
  );
}

function Card({
  question,
  isBusy,
  answer,
}: {
  question: Question;
  isBusy: boolean;
  answer(text: string): void;
}) {
  const { kind, from, text, details, options, expires_at, session_id } = question;
  return (
    <article class="card" aria-label={`${from} asks`}>
      <p>
        <strong>{from}</strong> asks: {text}
      </p>
      {details.map((detail) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre key={detail} tabIndex={0}>
          {detail}
        </pre>
      ))}
      <div class="row">
        {options.map(({ name, title }) => (
          <button key={name} type="button" disabled={isBusy} onClick={() => answer(name)}>
            {title}
          </button>
        ))}
        {expires_at !== undefined && <span class="soft small">until {moment(expires_at)}</span>}
        {session_id !== undefined && (
          <a href={addressOf({ room: "agents", id: session_id })}>Its conversation</a>
        )}
      </div>
      {kind === "handoff" && <Say label="Answer in your words" isBusy={isBusy} say={answer} />}
    </article>
  );
}
