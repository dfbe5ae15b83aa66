export { causeOf } from "./cause.ts";
export { windowMs } from "./clusters.ts";
export { judge } from "./judge.ts";
export { isFlaky } from "./own.ts";
export { type Review, type RunSource, review } from "./review.ts";
export { mostReruns } from "./rows.ts";
export {
  type Cause,
  type Classification,
  classifications,
  type Facts,
  type FinishedRun,
  type Judgement,
  type OtherRun,
  type PastRun,
  type RunStatus,
  type RunStep,
  runStatuses,
} from "./types.ts";
