export { ctrfReport } from "./ctrf.ts";
export { htmlReport } from "./html.ts";
export { junitReport } from "./junit.ts";
export { createReports, type ReportDependencies, type ReportService } from "./reports.ts";
export {
  type Picture,
  type ReportEntry,
  type ReportFormat,
  type ReportHead,
  type ReportSummary,
  reportFormats,
} from "./types.ts";
