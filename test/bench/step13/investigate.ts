import { z } from "zod";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import type { StdioServer } from "../stdioServer.ts";
import { visitVerdicts } from "../verdict.ts";
import type { Run } from "../verdictRun.ts";

const viewSchema = z.looseObject({
  investigation_id: z.string(),
  status: z.string(),
  result: z.looseObject({ root_cause: z.string().nullable(), confidence_score: z.number() }).optional(),
});

/** The cause that each run really has; a run of a slow machine that failed all the same failed for the app's sake. */
function truthOf({ cause, expected: { status } }: Run): string {
  if (status === "passed") return "No failure";
  const isOfApp = cause.startsWith("app bug") || (cause === "slow machine" && status === "failed");
  if (isOfApp) return "App bug";
  return cause === "lost browser" ? "Lost device" : `${cause[0]?.toUpperCase()}${cause.slice(1)}`;
}

/** A person who takes what is found where the tree is unsure. */
async function investigate(server: StdioServer, execution_id: string) {
  const call = async (tool: string, input: object) =>
    viewSchema.parse((await server.call(tool, { ...input, wait_ms: 60_000 })).structured);
  const started = await call("start_investigation", {
    skill: "investigate-failure",
    context: { execution_id },
  });
  if (started.status !== "waiting") return started.result;
  const { investigation_id } = started;
  return (await call("resume_investigation", { investigation_id, answer: "accept" })).result;
}

/** Above it a cause is told as found, below it as a guess. */
const sure = 0.7;

/** `investigate-failure` on every run of the verdict corpus: whether it names the cause, and whether it is ever sure of a wrong one. */
export async function measureInvestigations({ sides, note }: Bench): Promise<Measurement[]> {
  let [runs, right, wrongAndSure] = [0, 0, 0];
  await visitVerdicts(sides, async (run, execution_id, server) => {
    runs += 1;
    const found = execution_id === undefined ? undefined : await investigate(server, execution_id);
    const { root_cause: cause = "none, since it never ran", confidence_score: confidence = 0 } = found ?? {};
    const truth = truthOf(run);
    if (cause === truth) right += 1;
    else {
      if (confidence > sure) wrongAndSure += 1;
      note(`${run.cause}: ${run.name} -> ${truth}, found ${cause} (${confidence})`);
    }
  });
  return [
    { id: "investigate.right", ours: right, runs },
    { id: "investigate.wrong", ours: wrongAndSure, runs },
  ];
}
