import type { OurCall } from "./callLine.ts";
import type { Given } from "./given.ts";

export type Step = { command: string; params: Readonly<Record<string, unknown>> };
/** Our call for what was given to a tool of another server. Undefined where we have no counterpart. */
export type Mapping = (given: Given) => OurCall | undefined;

export const call = (tool: string, args: OurCall["arguments"] = {}): OurCall => ({ tool, arguments: args });
export const act = (...actions: Step[]): OurCall => call("execute_device_action", { actions });
export const verify = (...checks: (Step & { negate?: true })[]): OurCall =>
  call("verify_device_state", { checks });
export const step = (command: string, params: Step["params"] = {}): Step => ({ command, params });
