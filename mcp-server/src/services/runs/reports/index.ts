export { ctrfReport } from "./ctrf.ts";
export { htmlReport } from "./html.ts";
export { junitReport } from "./junit.ts";
export { createReports, type ReportDependencies, type ReportService } from "./reports.ts";
export type {
  Picture,
  ReportEntry,
  ReportHead,
  ReportSummary,
} from "./types.ts";
