import type { CatalogueSkill } from "../../registry/catalogue.ts";
import type { Caller, CallTool } from "../call/call.ts";
import { toMcp } from "../call/render.ts";
import type { Backend, ToolCall } from "../mcp/backend.ts";
import type { Addresses } from "../page/addresses.ts";
import type { Resources } from "../resources/index.ts";

export type LocalParts = {
  callTool: CallTool;
  resources: Resources;
  /** Makes links that a person can open of the files in a result. */
  addresses: Pick<Addresses, "linkTo">;
  /** The user's own skills; the same array until they change. */
  userSkills(): readonly CatalogueSkill[];
};

/** The backend where the tools run. `identify` says whose call it is. */
export function localBackend(parts: LocalParts & { identify(call: ToolCall): Caller }): Backend {
  return {
    ...parts.resources,
    async callTool(call) {
      const outcome = await parts.callTool({
        ...parts.identify(call),
        name: call.name,
        arguments: call.arguments,
        signal: call.signal,
        progress: call.progress,
        traceparent: call.traceparent,
        idempotency_key: call.idempotency_key,
        capabilities: { elicitation: call.elicitation, views: call.views },
      });
      return toMcp(outcome, parts.addresses.linkTo);
    },
    skills: async () => parts.userSkills(),
  };
}
