import { join } from "node:path";
import { skillsIn } from "../fixtures/agentLab.ts";
import { judgeRequests, readRequests } from "../skills/figures.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

/** How many of the requests that get a skill with no model get a wrong one, in the worse of the two halves. */
export function measureAgentChoice({ root }: Sides): Measurement[] {
  const skills = skillsIn(root);
  const halves = ["open.yaml", "heldOut.yaml"].map((file) => {
    const requests = readRequests(join(root, "test", "skills", "requests"), file);
    return { wrong: judgeRequests(requests, skills).wrong, runs: requests.length };
  });
  const runs = halves.reduce((sum, half) => sum + half.runs, 0);
  return [{ id: "agent.choice_wrong", ours: Math.max(...halves.map(({ wrong }) => wrong)), runs }];
}
