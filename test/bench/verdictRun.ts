import type { Answer } from "./verdictSite.ts";

export const causes = [
  "app bug",
  "app bug, loaded machine",
  "app down",
  "slow app",
  "slow machine",
  "wrong test",
  "lost browser",
  "frozen page",
  "none",
] as const;
export type Cause = (typeof causes)[number];

/** What is done to the app, the device or the machine while a test runs. */
export type Fault =
  | "close app"
  | "kill browser"
  | "stop browser"
  | "stop loop"
  | "stop browser shortly"
  | "stop loop shortly";

export type Given = Record<string, unknown>;

/** Addresses of one run's own pages: of the app, of an app that nothing listens for, and so on. */
export type Places = {
  at(page: string): string;
  /** Asked by a page or a test; the run's fault happens before it is answered (`gate`) or as soon as it is asked (`seen`). */
  gate: string;
  closed: string;
  unknownHost: string;
  badCertificate: string;
};

export type Run = {
  name: string;
  cause: Cause;
  pages?: Readonly<Record<string, Answer>>;
  fault?: Fault;
  /** The tree of the app that the test navigates, without its format and name. */
  app?(places: Places): { url?: string; nodes: Given[]; edges: Given[] };
  blocks(places: Places): Given[];
  timeoutMs?: number;
  expected: { status: "passed" | "failed" | "error" | "timeout"; code?: string };
};

/** Deadlines of the corpus's checks and actions: long enough for a machine that is busy, not for one that stands. */
export const deadlineMs = 4_000;

export const failed = (code: string) => ({ status: "failed" as const, code });
export const error = (code: string) => ({ status: "error" as const, code });
export const passed = { status: "passed" as const };

export const open = (url: string, more: Given = {}): Given => ({
  id: "open",
  type: "action",
  command: "navigate_to_url",
  params: { url, ...more },
});
export const act = (command: string, params: Given, id = "act"): Given => ({
  id,
  type: "action",
  command,
  params,
});
export const click = (selector: string, id = "click"): Given =>
  act("click_element", { selector, timeout_ms: deadlineMs }, id);
export const check = (command: string, params: Given, more: Given = {}): Given => ({
  id: "check",
  type: "verification",
  command,
  params,
  timeout_ms: deadlineMs,
  ...more,
});
export const sees = (text: string, more: Given = {}): Given => check("text_visible", { text }, more);
export const gate = (url: string): Given => ({ id: "gate", type: "api_request", url });
export const go = (target: string): Given => ({ id: "go", type: "navigation", target });

export const node = (label: string, text?: string): Given => ({
  label,
  ...(text !== undefined && {
    verifications: [{ command: "text_visible", params: { text }, timeout_ms: deadlineMs }],
  }),
});
export const entry: Given = { label: "Start", type: "entry" };
export const edge = (
  source: string,
  target: string,
  command: string,
  params: Given,
  more: Given = {},
): Given => ({
  source,
  target,
  action_sets: [{ actions: [{ command, params }], ...more }],
});
export const opening = (target: string, url: string): Given =>
  edge("Start", target, "navigate_to_url", { url });

export const html = (body: string, status?: number): Answer => ({
  body,
  ...(status !== undefined && { status }),
});
export const shop = html("<h1>Shop</h1><p id=total>41</p><button>Save</button>");
/** Says so when the command that opened it is over and a step behind it waits: then the fault happens. */
const seen = "setTimeout(() => fetch('seen').catch(() => {}), 1000);";
export const late = (text: string, ms: number): Answer =>
  html(
    `<h1>Shop</h1><p id=late></p><script>${seen} setTimeout(() => { late.textContent = '${text}' }, ${ms})</script>`,
  );

/** Runs of one cause. */
export type Runs = readonly Omit<Run, "cause">[];

/** Tests that open the only page of their app first: by name, the page and the blocks after it. */
export const onPage = (
  expected: Run["expected"],
  tests: Readonly<Record<string, readonly [page: Answer, ...rest: Given[]]>>,
  fault?: Fault,
): Runs =>
  Object.entries(tests).map(([name, [page, ...rest]]) => ({
    ...{ name, expected, pages: { page }, ...(fault && { fault }) },
    blocks: ({ at }) => [open(at("page")), ...rest],
  }));

/** Tests that go to the only screen of their app: by name, its page and the text that its check wants. */
export const atHome = (
  expected: Run["expected"],
  tests: Readonly<Record<string, readonly [page: Answer, text: string]>>,
  fault?: Fault,
): Runs =>
  Object.entries(tests).map(([name, [page, text]]) => ({
    ...{ name, expected, pages: { page }, ...(fault && { fault }) },
    app: ({ at }) => ({ nodes: [entry, node("Home", text)], edges: [opening("Home", at("page"))] }),
    blocks: () => [go("Home")],
  }));
