import { join } from "node:path";
import { loadAgents } from "../../agent-client/src/agents/load.ts";
import { skillsIn } from "../fixtures/agentLab.ts";

export type ProductParts = ReturnType<typeof partsIn>;

/** The agents and skills of a checkout: a bundle lies elsewhere. */
export const partsIn = (root: string) => ({
  agents: loadAgents({ userFolder: join(root, "agent-client", "agents") }).agents,
  skills: skillsIn(root),
});
