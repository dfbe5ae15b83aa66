export { createResults } from "./results.ts";
export type {
  AnalysisRequest,
  AnalysisView,
  QueueQuery,
  QueueView,
  ResultDependencies,
  ResultLine,
  ResultPage,
  ResultQuery,
  ResultService,
} from "./types.ts";
