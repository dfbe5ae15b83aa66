import { z } from "zod";
import type { ToolResult } from "../ports.ts";
import { keyOf } from "./words.ts";

/** The tool that lists; where its result has the rows and which field names one; the tool that shows one, by an argument. */
type Listing = readonly [tool: string, rows?: string, name?: string, showTool?: string, argument?: string];

const listings = {
  device: ["list_hosts", "devices", "id", "get_device_info", "device_id"],
  script: ["list_scripts", "scripts", "name"],
  testcase: ["list_testcases", "testcases", "name", "load_testcase", "testcase"],
  app: ["list_userinterfaces", "userinterfaces", "name", "preview_userinterface", "userinterface_name"],
  requirement: ["list_requirements", "requirements", "code", "get_requirement_coverage", "requirement"],
  deployment: ["list_deployments", "deployments", "name", "get_deployment_history", "deployment"],
  alert: ["list_alerts"],
  coverage: ["get_coverage_summary"],
  reference: ["list_references"],
  service: ["list_services"],
  log: ["view_logs"],
} as const satisfies Record<string, Listing>;

/** What can be listed. A request names it by words of `vocabulary.json`. */
export type Topic = keyof typeof listings;
/** A row of a listing: the value that tools take for it, and the keys of the names that people give it. */
export type Thing = { topic: Topic; value: string; keys: readonly string[]; row: Record<string, unknown> };

export const listingOf = (topic: Topic): Listing => listings[topic];
const isTopic = (word: string): word is Topic => Object.hasOwn(listings, word);
export const topics = Object.keys(listings).filter(isTopic);
/** The topics whose things have names. */
export const namedTopics: readonly Topic[] = topics.filter((topic) => listingOf(topic)[1]);
export const runnableTopics: readonly Topic[] = ["script", "testcase"];

/** The tools that `runOffline` calls, and no others. */
export const offlineTools: readonly string[] = [
  ...topics.map((topic) => listingOf(topic)[0]),
  ...topics.flatMap((topic) => listingOf(topic)[3] ?? []),
  ...["execute_script", "execute_testcase", "execute_plan", "get_compatible_hosts"],
  ...["get_execution_results", "get_execution_report", "get_execution_status"],
];

/** The part of a name that people leave out. */
const optionalPart: Partial<Record<Topic, RegExp>> = { device: /^.*\//, script: /\.\w{1,4}$/ };
const rowsSchema = z.array(z.record(z.string(), z.unknown()));
const hostsSchema = z.object({ hosts: z.array(z.object({ devices: rowsSchema })) });

/** The things of a listing's result. */
export function thingsIn(topic: Topic, { structured = {} }: ToolResult): Thing[] {
  const [, list = "", field = ""] = listingOf(topic);
  const rows =
    topic === "device"
      ? hostsSchema.parse(structured).hosts.flatMap(({ devices }) => devices)
      : rowsSchema.parse(structured[list]);
  return rows.map((row) => {
    const value = String(row[field]);
    return { topic, value, keys: [value, value.replace(optionalPart[topic] ?? "", "")].map(keyOf), row };
  });
}

/** The text that the server made of a typed result. */
export const textOf = ({ parts }: ToolResult): string =>
  parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
