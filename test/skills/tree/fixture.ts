import {
  type DecisionTree,
  nextActions,
  nextState,
  parseTree,
  reportOf,
  type Scope,
  startTree,
  type TreeState,
} from "@labwright/skills";
import { evaluateCondition, expressionProblem } from "#mcp-server/services/values/conditions.ts";

export const evaluate = evaluateCondition;

const known = {
  tools: new Set(["get_execution_status"]),
  sources: new Set(["shop"]),
  checkExpression: expressionProblem,
};

export const problemsOf = (tree: string, mappings?: string): string[] =>
  parseTree(
    { file: "tree.yaml", text: tree },
    mappings === undefined ? undefined : { file: "map.yaml", text: mappings },
    {},
    known,
  ).problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);

export function treeOf(text: string, rules = {}, mappings?: string): DecisionTree {
  const parsed = parseTree(
    { file: "tree.yaml", text },
    mappings === undefined ? undefined : { file: "map.yaml", text: mappings },
    rules,
    known,
  );
  if (parsed.tree === undefined) throw new Error(JSON.stringify(parsed.problems));
  return parsed.tree;
}

/** Rows by step; an Error is a failed action. */
export type Replies = Readonly<Record<string, unknown>>;

/** Starts a tree and runs it until it ends or a person must answer. A second passes with each step. */
export function run(tree: DecisionTree, context: Scope, replies: Replies): TreeState {
  return goOn(tree, startTree(tree, context, { evaluate, at: 0 }), replies);
}

export function goOn(tree: DecisionTree, from: TreeState, replies: Replies, start = 0): TreeState {
  let state = from;
  let at = start;
  for (let [next] = nextActions(state); next !== undefined; [next] = nextActions(state)) {
    const { lane, step } = next;
    const reply = replies[step];
    const result =
      reply instanceof Error ? { error: { code: "FAILED", message: reply.message } } : { value: reply };
    at += 1_000;
    state = nextState(tree, state, { type: "result", lane, step, result, at }, evaluate);
  }
  return state;
}

export function answer(
  tree: DecisionTree,
  state: TreeState,
  text: string,
  replies: Replies,
  context?: Scope,
): TreeState {
  const handoff = state.handoffs.at(-1)?.id ?? "none";
  const at = 100_000;
  const input = { type: "answer" as const, handoff, answer: text, at, ...(context && { context }) };
  return goOn(tree, nextState(tree, state, input, evaluate), replies, at);
}

type Lines = readonly string[];
/** A step that asks `shop` for rows; each decision is one line of YAML. */
export const step = (name: string, decisions: Lines, more: Lines = []): string =>
  [
    `  ${name}:`,
    `    name: The ${name}`,
    ...more.map((line) => `    ${line}`),
    ...(more.some((line) => line.startsWith("action:"))
      ? []
      : ["    action: { type: query, source: shop, query_template: select 1 }"]),
    "    decisions:",
    ...decisions.map((line) => `      ${line}`),
    "",
  ].join("\n");
export const treeText = (entry: string, ...steps: string[]) =>
  `entry_point: ${entry}\nsteps:\n${steps.join("")}`;
export const decide = (name: string, condition: string, conclusion: string, more = "") =>
  `${name}: { condition: "${condition}", confidence: 0.9, conclusion: { ${conclusion} }${more} }`;
export const cause = (name: string, condition: string, text: string, confidence = 0.9) =>
  `${name}: { condition: "${condition}", confidence: ${confidence}, conclusion: { root_cause: ${text} } }`;
export const next = (name: string, condition: string, to: string, confidence = 0.9) =>
  `${name}: { condition: "${condition}", confidence: ${confidence}, conclusion: { partial_finding: ${name} }, next_step: ${to} }`;

export const handoffOf = (state: TreeState) => reportOf(state).handoff;
export const resultOf = (state: TreeState) => reportOf(state).result;
