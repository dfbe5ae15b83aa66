import { join } from "node:path";
import { skillsIn } from "../fixtures/agentLab.ts";
import { judgeRequests, readRequests } from "../skills/figures.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

/** In the worse of the two halves. A request that gets a wrong skill makes the row fail. */
export function measureAgentChoice({ root }: Sides): Measurement[] {
  const skills = skillsIn(root);
  const halves = ["open.yaml", "heldOut.yaml"].map((file) => {
    const requests = readRequests(join(root, "test", "skills", "requests"), file);
    const { wrong, offered } = judgeRequests(requests, skills);
    return { offered: wrong === 0 ? offered : Number.NaN, runs: requests.length };
  });
  const runs = halves.reduce((sum, half) => sum + half.runs, 0);
  return [{ id: "agent.skill_offered", ours: Math.min(...halves.map(({ offered }) => offered)), runs }];
}
