import type { ReportFormat } from "../../../domain/index.ts";
import { ctrfReport } from "./ctrf.ts";
import { htmlReport } from "./html.ts";
import { junitReport } from "./junit.ts";
import type { ReportEntry, ReportHead } from "./types.ts";

type Renderer = { mimeType: string; render(entries: readonly ReportEntry[], head: ReportHead): string };

/** How a report of each form is made. */
export const renderers: Readonly<Record<ReportFormat, Renderer>> = {
  html: { mimeType: "text/html", render: htmlReport },
  junit: { mimeType: "application/xml", render: junitReport },
  ctrf: { mimeType: "application/json", render: ctrfReport },
};
