import type { Report } from "./model.ts";
import { renderReport as render } from "./reportPage.tsx";

export type { ReportTest } from "./model.ts";

/**
 * A report as HTML without pictures: its elements `title` and `main`, and what its elements `style` and `script` hold. Typed here, so
 * that the server sees no types of a browser.
 */
export const renderReport: (report: Report) => {
  title: string;
  main: string;
  style: string;
  script: string;
} = render;
