import { z } from "zod";
import type { ToolResult } from "../ports.ts";

/** What can be listed; a request says it by words of `vocabulary.json`. */
export type Topic = keyof typeof listings;
/** A thing that is there: what a tool takes for it, what people call it, and its row of the listing. */
export type Thing = { topic: Topic; value: string; names: readonly string[]; row: Record<string, unknown> };

type Listing = {
  noun: string;
  tool: string;
  /** Where the rows are, and the field that names each. */
  list?: readonly [rows: string, value: string];
  /** The part of a name that people leave out. */
  short?: RegExp;
  /** What tells of one, and the argument that names it. */
  one?: readonly [tool: string, argument: string];
};

const listings = {
  device: {
    ...{ noun: "device", tool: "list_hosts", list: ["devices", "id"], short: /^.*\// },
    one: ["get_device_info", "device_id"],
  },
  script: { noun: "script", tool: "list_scripts", list: ["scripts", "name"], short: /\.\w{1,4}$/ },
  testcase: {
    ...{ noun: "test case", tool: "list_testcases", list: ["testcases", "name"] },
    one: ["load_testcase", "testcase"],
  },
  app: {
    ...{ noun: "app", tool: "list_userinterfaces", list: ["userinterfaces", "name"] },
    one: ["preview_userinterface", "userinterface_name"],
  },
  requirement: {
    ...{ noun: "requirement", tool: "list_requirements", list: ["requirements", "code"] },
    one: ["get_requirement_coverage", "requirement"],
  },
  deployment: {
    ...{ noun: "deployment", tool: "list_deployments", list: ["deployments", "name"] },
    one: ["get_deployment_history", "deployment"],
  },
  alert: { noun: "alert", tool: "list_alerts" },
  coverage: { noun: "coverage", tool: "get_coverage_summary" },
  uncovered: { noun: "requirement", tool: "get_uncovered_requirements" },
  reference: { noun: "reference", tool: "list_references" },
  service: { noun: "service", tool: "list_services" },
  log: { noun: "log", tool: "view_logs" },
} as const satisfies Record<string, Listing>;

export const listingOf = (topic: Topic): Listing => listings[topic];
const isTopic = (word: string): word is Topic => Object.hasOwn(listings, word);
export const topics = Object.keys(listings).filter(isTopic);
/** What is run. */
export type Runnable = "script" | "testcase";
export const runnable: readonly Runnable[] = ["script", "testcase"];
/** Topics whose things have names. */
export const named: readonly Topic[] = topics.filter((topic) => listingOf(topic).list);

/** The tools that `runOffline` calls, and no others. */
export const offlineTools: readonly string[] = [
  ...topics.flatMap((topic) => [listingOf(topic).tool, ...(listingOf(topic).one?.slice(0, 1) ?? [])]),
  ...["execute_script", "execute_testcase", "get_compatible_hosts"],
  ...["get_execution_results", "get_execution_status", "get_execution_report"],
];

const rowsSchema = z.array(z.record(z.string(), z.unknown()));
const hostsSchema = z.object({ hosts: z.array(z.object({ devices: rowsSchema })) });

/** The things of a listing's result. */
export function thingsIn(topic: Topic, { structured = {} }: ToolResult): Thing[] {
  const { list: [rows, key] = ["", ""], short } = listingOf(topic);
  const found =
    topic === "device"
      ? hostsSchema.parse(structured).hosts.flatMap(({ devices }) => devices)
      : rowsSchema.parse(structured[rows] ?? []);
  return found.map((row) => {
    const value = String(row[key] ?? "");
    return { topic, value, names: short ? [value, value.replace(short, "")] : [value], row };
  });
}

/** The text of a result, as the server made it of its typed result. */
export const textOf = ({ parts }: ToolResult): string =>
  parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
