import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { useAttempt } from "../../views/attempt.tsx";
import { isOpen } from "../../views/runs.tsx";
import { Badge, Facts, Shown } from "../../views/states.tsx";
import { callTool, read } from "./api.ts";
import { type Pause, usePolled } from "./polled.ts";
import { addressOf, type RoomName } from "./route.ts";

type DetailProps<Value> = {
  room: RoomName;
  id: string;
  load(signal: AbortSignal, before: Value | undefined): Promise<Value>;
  every: Pause<Value>;
  nameOf(value: Value): string;
  children: (value: Value, again: () => void) => ComponentChildren;
};

/** One item of a room under its name, with the way back to the list. */
export function Detail<Value>({ room, id, load, every, nameOf, children }: DetailProps<Value>) {
  const one = usePolled(id, load, every);
  const name = one.value === undefined ? id : nameOf(one.value);
  useEffect(() => {
    document.title = `${name} · Labwright`;
  }, [name]);
  return (
    <>
      <p>
        <a href={addressOf({ room })}>All {room}</a>
      </p>
      <Shown of={one} what={`one of all ${room}`}>
        {(value) => (
          <>
            <h1>{name}</h1>
            {children(value, one.again)}
          </>
        )}
      </Shown>
    </>
  );
}

export const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

export const FactsPart = ({ rows }: Parameters<typeof Facts>[0]) => (
  <Part title="Facts">
    <Facts rows={rows} />
  </Part>
);

export const RunLink = ({ id, children }: { id: string; children: ComponentChildren }) => (
  <a href={addressOf({ room: "runs", id })}>{children}</a>
);

export type Action = {
  label: string;
  tool: string;
  args: Record<string, unknown>;
  isMain?: boolean;
  /** Asked before the call. */
  ask?: string;
};

/** A run until its end: what it does now, how it ended, and a link to it. */
function Followed({ id, ended }: { id: string; ended?: (() => void) | undefined }) {
  const run = usePolled<RunView>(
    id,
    async (signal) => {
      const view = await read<RunView>(`executions/${encodeURIComponent(id)}?after=1000000`, signal);
      if (!isOpen(view)) ended?.();
      return view;
    },
    (view) => (view === undefined || isOpen(view) ? 1_000 : undefined),
  );
  const { status, doing, reason } = run.value ?? {};
  return (
    <>
      {status && <Badge status={status} />} {doing} {reason?.message} <RunLink id={id}>Open the run</RunLink>
    </>
  );
}

type ActionsProps = {
  actions: readonly Action[];
  /** After a call that did not fail. */
  done?: (action: Action) => void;
  /** After the end of a run that a call started. */
  ended?: () => void;
};

/** Buttons that call tools, with the failure of the last call or the run that it started. */
export function Actions({ actions, done, ended }: ActionsProps) {
  const [asked, setAsked] = useState<Action>();
  const [run, setRun] = useState<string>();
  const { problem, isBusy, attempt } = useAttempt();
  const perform = (action: Action) =>
    attempt(async () => {
      setRun(undefined);
      setRun((await callTool<{ execution_id?: string }>(action.tool, action.args)).execution_id);
      done?.(action);
    });
  return (
    <>
      <div class="row">
        {actions.map((action) => (
          <button
            key={action.label}
            type="button"
            class={action.isMain ? "main" : ""}
            disabled={isBusy}
            onClick={() => (action.ask === undefined ? perform(action) : setAsked(action))}
          >
            {action.label}
          </button>
        ))}
        <span role="status" class="row">
          {run !== undefined && <Followed key={run} id={run} ended={ended} />}
        </span>
      </div>
      {problem}
      {asked && (
        <Confirm
          {...asked}
          close={(isSure) => {
            setAsked(undefined);
            if (isSure) perform(asked);
          }}
        />
      )}
    </>
  );
}

function Confirm({ label, ask, close }: Pick<Action, "label" | "ask"> & { close(isSure: boolean): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="card"
      aria-label={label}
      onClose={(event) => close(event.currentTarget.returnValue === "yes")}
    >
      <p>{ask}</p>
      <div class="row">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="main" onClick={() => dialog.current?.close("yes")}>
          {label}
        </button>
      </div>
    </dialog>
  );
}
