export { type Cause, causeOf } from "./cause.ts";
export { faultOf } from "./faults.ts";
export { judge } from "./judge.ts";
export { createJudgements, type JudgedRun, type JudgementService } from "./judgements.ts";
export { mostReruns } from "./rows.ts";
export type { Facts, Judgement } from "./types.ts";
