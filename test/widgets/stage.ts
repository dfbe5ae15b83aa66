import { type Caller, ourHand, theirHand } from "./hands.ts";
import type { Widget } from "./list.ts";
import type { State, Task } from "./task.ts";
import { heldOutTasks, tasks } from "./tasks.ts";

/** How a task ended. `problem` is what stopped it, or what the widget says instead. Tool definitions are not counted. */
export type Outcome = { done: boolean; tokens: number; ms: number; problem?: string };

/** The file that a task attaches: it lies in the folder from which each side takes files. */
export const upload = { name: "notes.txt", text: "Bring the keys.\n" };

/** What our server needs so that the judge can ask the page: no task uses a script. */
export const judgeSettings = (uploads: string) => ({ unsafe: { javascript: true }, folders: { uploads } });

/** What the page says of its widget. Only the judge asks, and it counts for no side. */
type ReadState = () => Promise<State>;

type Play = { hand: { open(): Promise<void>; tokens(): number }; perform(): Promise<void>; read: ReadState };

async function play(task: Task, { hand, perform, read }: Play): Promise<Outcome> {
  const started = performance.now();
  const problem = await hand
    .open()
    .then(perform)
    .then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  const ms = performance.now() - started;
  const tokens = hand.tokens();
  const state = await stateWhenDone(task, read);
  // What is done before anything was done proves nothing.
  await hand.open();
  if (task.done(await read())) return { done: false, tokens, ms, problem: "it is done from the start" };
  if (task.done(state)) return { done: true, tokens, ms };
  return { done: false, tokens, ms, problem: problem ?? `the widget says ${JSON.stringify(state)}` };
}

/** A widget may say so only when its animation has ended. */
const longestEndMs = 2_000;

async function stateWhenDone({ done }: Task, read: ReadState): Promise<State> {
  const until = performance.now() + longestEndMs;
  for (;;) {
    const state = await read();
    if (done(state) || performance.now() > until) return state;
  }
}

function parseState(text: string): State {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
}

function taskOf({ name }: Widget): Task {
  const task = tasks[name] ?? heldOutTasks[name];
  if (!task) throw new Error(`${name} has no task`);
  return task;
}

export async function playOurs(server: Caller, widget: Widget, url: string): Promise<Outcome> {
  const task = taskOf(widget);
  // Replies look as the last dump did; a task begins with the default, whatever the one before it asked for.
  await server.call("dump_ui_elements", {});
  const hand = ourHand(server, url);
  const script = "return JSON.stringify(window.oracle())";
  const read: ReadState = async () => {
    const actions = [{ command: "execute_javascript", params: { script } }];
    const { structured } = await server.call("execute_device_action", { actions, look: false });
    const result = /"result":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(structured))?.[1] ?? '"null"';
    return parseState(String(JSON.parse(result)));
  };
  return play(task, { hand, perform: () => task.ours(hand), read });
}

export function playTheirs(server: Caller, widget: Widget, url: string): Promise<Outcome> {
  const task = taskOf(widget);
  const hand = theirHand(server, url);
  const read: ReadState = async () => {
    const { text } = await server.call("browser_evaluate", { function: "() => window.oracle()" });
    const result = /^### Result\n([\s\S]*?)\n###/m.exec(`${text}\n###`)?.[1] ?? "null";
    return parseState(result);
  };
  return play(task, { hand, perform: () => task.theirs(hand), read });
}
