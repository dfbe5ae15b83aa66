import { ifFailed } from "../mcp/calls.ts";
import { criticRole, plannerRole, type RoleDeps } from "./agents.ts";
import { createDesk, type Desk, type MessageLog } from "./desk.ts";
import type { Executor } from "./executor.ts";
import { createExecutor } from "./executors/execute.ts";
import { hostsAt } from "./executors/places.ts";

/** The five roles on one server: a web executor for each of its hosts, and one of each other role. */
export function createRoles(deps: RoleDeps & { log: MessageLog }): Desk {
  const web = new Map<string, Executor>();
  const others = [createExecutor("api", "local", deps), plannerRole(deps), criticRole(deps)];
  return createDesk({
    ...deps,
    async executors(signal) {
      // Where the server does not answer, its executors are asked how they are, and say so.
      for (const { name } of await hostsAt(deps.toolbox, signal).catch(ifFailed(() => [])))
        if (!web.has(name)) web.set(name, createExecutor("web", name, deps));
      return [...web.values(), ...others];
    },
  });
}
