import { alert, choice, permissionQuestion } from "./popups.ts";
import type { Task } from "./task.ts";
import type { Action, Value, Values } from "./views.ts";

export type Device = {
  now(): number;
  toast(packageName: string, text: string): void;
  start(target: { packageName: string }): void;
  stop(packageName: string): void;
  crash(packageName: string, reason: string): void;
  notResponding(packageName: string, reason: string): void;
  type(text: string): void;
  key(code: number): void;
};

/** Does the actions in their order; those of no app (of a system window) have no task. */
export function perform(actions: readonly Action[], task: Task | undefined, device: Device): void {
  for (const action of actions) {
    if (!onDevice(action, device) && task?.isRunning) onApp(action, task, device);
  }
}

function onDevice(action: Action, device: Device): boolean {
  switch (action.do) {
    case "launch":
      device.start({ packageName: action.packageName });
      return true;
    case "close app":
      device.stop(action.packageName);
      return true;
    case "type":
      device.type(action.text);
      return true;
    case "press":
      device.key(action.code);
      return true;
    default:
      return false;
  }
}

function onApp(action: Action, task: Task, device: Device): void {
  const { packageName, label } = task.app;
  switch (action.do) {
    case "toast":
      device.toast(packageName, filled(action.text, task.values()));
      return;
    case "ask":
      task.ask(alert(packageName, action.dialog));
      return;
    case "choose":
      task.ask(choice(packageName, { ...action, chosen: task.values()[action.value] ?? action.options[0] }));
      return;
    case "need permission":
      if (task.granted.has(action.permission)) {
        perform(action.yes, task, device);
        return;
      }
      task.ask(permissionQuestion(label, action.permission, action));
      return;
    case "grant":
      task.granted.add(action.permission);
      return;
    case "deny":
      task.granted.delete(action.permission);
      return;
    case "crash":
      device.crash(packageName, action.reason);
      return;
    case "hang":
      device.notResponding(packageName, action.reason);
      return;
    case "when":
      perform(holds(action.condition, task.values()) ? action.yes : action.no, task, device);
      return;
    default:
      if (!onValue(action, task)) onScreen(action, task, device.now());
  }
}

function onValue(action: Action, task: Task): boolean {
  const values = task.values();
  switch (action.do) {
    case "set":
      task.set(action.value, filledValue(action.to, values));
      return true;
    case "toggle":
      task.set(action.value, values[action.value] !== true);
      return true;
    case "add":
      task.set(action.value, Number(values[action.value] ?? 0) + action.amount);
      return true;
    case "append":
      task.set(action.value, `${values[action.value] ?? ""}${action.text}`);
      return true;
    case "erase":
      task.set(action.value, [...String(values[action.value] ?? "")].slice(0, -1).join(""));
      return true;
    default:
      return false;
  }
}

function onScreen(action: Action, task: Task, now: number): void {
  switch (action.do) {
    case "go":
    case "replace": {
      const values = task.values();
      const given = Object.entries(action.with ?? {}).map(([name, to]) => [name, filledValue(to, values)]);
      if (action.do === "replace") task.replace(action.screen, Object.fromEntries(given));
      else task.open(action.screen, Object.fromEntries(given));
      if (task.screen.plays) task.play("playing", now);
      return;
    }
    case "switch to":
      task.switchTo(action.screen);
      return;
    case "play":
      task.play("playing", now);
      return;
    case "pause":
      task.play("paused", now);
      return;
    case "stop":
      task.play("stopped", now);
      return;
    case "play or pause":
      task.play(task.playing === "playing" ? "paused" : "playing", now);
      return;
    case "seek":
      task.seek(action.byMs, now);
      return;
  }
}

function holds(condition: Extract<Action, { do: "when" }>["condition"], values: Values): boolean {
  const value = values[condition.value];
  return "is" in condition ? value === condition.is : condition.matches.test(String(value ?? ""));
}

const filledValue = (to: Value, values: Values): Value => (typeof to === "string" ? filled(to, values) : to);

const filled = (text: string, values: Values): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name] ?? ""));
