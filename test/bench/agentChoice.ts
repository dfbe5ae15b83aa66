import { join } from "node:path";
import { skillsIn } from "../fixtures/agentLab.ts";
import { judgeRequests, readRequests } from "../skills/figures.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

/** How often requests get their skill with no model: the half that triggers are tuned for, and the half that is held out. */
export function measureAgentChoice({ root }: Sides): Measurement[] {
  const skills = skillsIn(root);
  const [open, heldOut] = ["open.yaml", "heldOut.yaml"].map((file) => {
    const requests = readRequests(join(root, "test", "skills", "requests"), file);
    return { ...judgeRequests(requests, skills), runs: requests.length };
  });
  if (!open || !heldOut) throw new Error("a half is missing");
  return [
    { id: "agent.choice", ours: open.recall, runs: open.runs },
    { id: "agent.choice_held_out", ours: heldOut.recall, runs: heldOut.runs },
    { id: "agent.choice_wrong", ours: Math.max(open.wrong, heldOut.wrong), runs: open.runs + heldOut.runs },
  ];
}
