export { ctrfReport } from "./ctrf.ts";
export { htmlReport } from "./html.ts";
export { junitReport } from "./junit.ts";
export { withPictures } from "./pictures.ts";
export { createReports, type ReportDependencies, type ReportService, renderers } from "./reports.ts";
export { readReport } from "./source.ts";
export type { Picture, ReportEntry, ReportHead, ReportSummary, SkippedTest } from "./types.ts";
