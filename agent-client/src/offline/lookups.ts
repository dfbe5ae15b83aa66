import { z } from "zod";
import type { ToolCall } from "../ports.ts";
import type { Thing } from "./names.ts";

/** What a request can name. */
export type Kind =
  | "script"
  | "testcase"
  | "device"
  | "app"
  | "requirement"
  | "deployment"
  | "alert"
  | "node"
  | "edge"
  | "execution";

/** `more`: not all of them are there. `rows` are as the tool gave them. */
export type Things = { things: readonly Thing[]; rows: ReadonlyMap<string, Row>; more: boolean };
type Row = Readonly<Record<string, unknown>>;
type Lookup = {
  /** In words, for questions. */
  noun: string;
  tool: string;
  list: string;
  /** The field that tools take, and others that people say. */
  value: string;
  called?: readonly string[];
  input?: ToolCall["input"];
  /** It is of an app that must be known first. */
  ofApp?: true;
};

const everything = { max_tokens: 50_000 };

const lookups: Readonly<Record<Kind, Lookup>> = {
  device: { noun: "device", tool: "list_hosts", list: "hosts", value: "id" },
  script: { noun: "script", tool: "list_scripts", list: "scripts", value: "name", input: everything },
  testcase: {
    noun: "test case",
    tool: "list_testcases",
    list: "testcases",
    value: "name",
    input: everything,
  },
  app: { noun: "app", tool: "list_userinterfaces", list: "userinterfaces", value: "name", input: everything },
  requirement: {
    ...{ noun: "requirement", tool: "list_requirements", list: "requirements", value: "code" },
    input: everything,
  },
  deployment: {
    ...{ noun: "deployment", tool: "list_deployments", list: "deployments", value: "name" },
    input: everything,
  },
  alert: { noun: "alert", tool: "list_alerts", list: "alerts", value: "alert_id", input: everything },
  node: {
    ...{ noun: "node", tool: "list_navigation_nodes", list: "nodes", value: "label" },
    ...{ input: everything, ofApp: true },
  },
  edge: {
    ...{ noun: "edge", tool: "list_edges", list: "edges", value: "id", called: ["edge"] },
    ...{ input: everything, ofApp: true },
  },
  execution: {
    ...{ noun: "run", tool: "get_execution_results", list: "executions", value: "execution_id" },
    ...{ called: ["name"], input: { ...everything, status: "running" } },
  },
};

/** How to learn what there is of a kind. */
export const lookupOf = (kind: Kind): Lookup => lookups[kind];

/** Which argument of a tool takes which kind of name. */
export const kindOfArgument: Readonly<Record<string, Kind>> = {
  device_id: "device",
  device: "device",
  userinterface_name: "app",
  testcase: "testcase",
  script: "script",
  requirement: "requirement",
  deployment: "deployment",
  alert_id: "alert",
  node: "node",
  edge: "edge",
  execution_id: "execution",
};

/**
 * The tools that `runOffline` may call beside those of its skill, whichever that is: reads that say what there is, and the
 * report of a run that it made.
 */
export const offlineTools: readonly string[] = [
  ...Object.values(lookups).map(({ tool }) => tool),
  "get_execution_report",
];

const rowSchema = z.record(z.string(), z.unknown());
const hostsSchema = z.object({
  hosts: z.array(z.object({ devices: z.array(z.looseObject({ id: z.string() })) })),
});

/** Reads a listing. A device goes by its id and by its bare name, a script also without its ending. */
export function readThings(kind: Kind, structured: unknown): Things {
  if (kind === "device") {
    const devices = hostsSchema.parse(structured).hosts.flatMap((host) => host.devices);
    return thingsOf(devices.map((row) => ({ row, value: row.id, names: [row.id, bareName(row.id)] })));
  }
  const { list, value, called = [] } = lookups[kind];
  const { [list]: found, more } = z.looseObject({ [list]: z.array(rowSchema) }).parse(structured);
  const things = z
    .array(rowSchema)
    .parse(found)
    .map((row) => {
      const values = [value, ...called].map((key) => String(row[key] ?? ""));
      const names = kind === "script" ? values.flatMap((name) => [name, withoutEnding(name)]) : values;
      return { row, value: values[0] ?? "", names };
    });
  return { ...thingsOf(things), more: typeof more === "number" && more > 0 };
}

const thingsOf = (read: readonly (Thing & { row: Row })[]): Things => ({
  things: read.map(({ value, names }) => ({ value, names })),
  rows: new Map(read.map(({ value, row }) => [value, row])),
  more: false,
});

const bareName = (id: string): string => id.slice(id.lastIndexOf("/") + 1);
const withoutEnding = (name: string): string => name.replace(/\.\w{1,4}$/, "");

/** What has the form of a run's id: twelve lower-case letters and digits. */
export const executionIdsIn = (text: string): string[] => text.match(/(?<![\w-])[a-z\d]{12}(?![\w-])/g) ?? [];
