export { causeOf, faultOf } from "./cause.ts";
export type { Facts, Judgement } from "./history.ts";
export { mostReruns } from "./history.ts";
export { judge } from "./judge.ts";
export { createJudgements, type JudgedRun, type JudgementService } from "./judgements.ts";
