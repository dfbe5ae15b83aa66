import type { Kind } from "./lookups.ts";

/** A reading that serves a skill. Its arguments are filled by what the request names. */
export type Read = {
  tool: string;
  /** Meanings of the lexicon, one of which asks for it. */
  asked?: readonly string[];
  /** Done too when nothing else is asked for. */
  usual?: true;
  /** Whichever else is. */
  always?: true;
  /** Of the devices that are named, else `all`, or the `one` that must be known. Else only of those that are named. */
  devices?: "all" | "one";
  /** A run is meant, and asked for when it is not named. */
  needsRun?: true;
  /** Arguments that it need not have, and which kind of name each takes. */
  fill?: Readonly<Record<string, Kind>>;
  /** Arguments by what is asked; the first that is. */
  options?: readonly (readonly [meaning: string, input: Readonly<Record<string, unknown>>])[];
};

/** Runs what the request names and asks to run. */
export type RunPlan = {
  kind: "script" | "testcase";
  tool: "execute_script" | "execute_testcase";
};

const plans: Readonly<Record<string, RunPlan | readonly Read[]>> = {
  "run-script": { kind: "script", tool: "execute_script" },
  "run-testcase": { kind: "testcase", tool: "execute_testcase" },
  "list-resources": [
    { tool: "list_scripts", asked: ["script"], usual: true },
    { tool: "list_testcases", asked: ["test"], usual: true },
    { tool: "list_hosts", asked: ["host", "device", "tv", "phone", "lab"], usual: true },
    { tool: "list_userinterfaces", asked: ["app", "model"], usual: true },
  ],
  "device-status": [
    { tool: "get_compatible_hosts", asked: ["compatible", "app"] },
    { tool: "get_device_info", devices: "all", usual: true },
  ],
  "health-check": [
    { tool: "list_hosts", always: true },
    { tool: "get_device_info", devices: "all", always: true },
  ],
  "inspect-device": [
    { tool: "read_device_sensors", asked: ["battery", "measure"], devices: "one" },
    { tool: "get_installed_apps", asked: ["app"], devices: "one" },
    { tool: "get_device_info", devices: "one", usual: true },
  ],
  "troubleshoot-devices": [
    { tool: "diagnose", always: true },
    { tool: "list_hosts", always: true },
    { tool: "get_device_info" },
  ],
  "manage-requirements": [
    { tool: "get_uncovered_requirements", asked: ["untested", "not"] },
    { tool: "get_coverage_summary", asked: ["coverage", "percent"] },
    {
      tool: "list_requirements",
      asked: ["requirement", "list", "show", "priority"],
      usual: true,
    },
  ],
  "trace-requirements": [
    { tool: "get_requirement_coverage" },
    { tool: "get_testcase_requirements" },
    { tool: "list_requirements", usual: true },
  ],
  "manage-alerts": [
    {
      tool: "list_alerts",
      always: true,
      fill: { device: "device" },
      options: [["open_state", { state: "active" }]],
    },
  ],
  "manage-deployments": [
    { tool: "get_deployment_history" },
    { tool: "list_deployments", usual: true, options: [["pause", { status: "paused" }]] },
  ],
  "review-results": [
    { tool: "get_execution_status" },
    {
      tool: "get_execution_results",
      usual: true,
      fill: { name: "testcase", device: "device" },
      options: [
        ["fail", { status: "failed" }],
        ["pass", { status: "passed" }],
      ],
    },
  ],
  "follow-execution": [{ tool: "get_execution_status", needsRun: true, always: true }],
  "classify-results": [{ tool: "get_execution_status" }, { tool: "get_analysis_queue_status", always: true }],
  "generate-report": [
    { tool: "get_execution_status" },
    { tool: "list_testcases", always: true },
    { tool: "get_coverage_summary", always: true },
  ],
  "export-report": [
    {
      tool: "get_execution_report",
      options: [
        ["junit", { format: "junit" }],
        ["ctrf", { format: "ctrf" }],
      ],
    },
    { tool: "get_execution_results", usual: true },
  ],
  "read-logs": [
    { tool: "list_services", asked: ["service", "status"] },
    {
      tool: "view_logs",
      asked: ["log"],
      usual: true,
      options: [
        ["error", { level: "error" }],
        ["alert", { level: "warn" }],
      ],
    },
  ],
  "manage-references": [{ tool: "list_references", always: true, fill: { userinterface_name: "app" } }],
  "manage-userinterfaces": [{ tool: "preview_userinterface" }, { tool: "list_userinterfaces", usual: true }],
  "inspect-navigation-tree": [
    { tool: "list_navigation_nodes", asked: ["node"] },
    { tool: "list_edges", asked: ["edge"] },
    { tool: "preview_userinterface", usual: true },
  ],
  "navigate-app": [
    { tool: "get_current_position", asked: ["where", "current"], devices: "one" },
    { tool: "preview_userinterface", usual: true },
  ],
};

/** What is done of a skill without a model; undefined for one that only looks at what the request names. */
export function planOf(skill: {
  name: string;
  tools: readonly string[];
}): RunPlan | readonly Read[] | undefined {
  const plan = Object.hasOwn(plans, skill.name) ? plans[skill.name] : undefined;
  // One of the user's own may have a name of ours and other tools.
  return plan !== undefined && "tool" in plan && !skill.tools.includes(plan.tool) ? undefined : plan;
}
