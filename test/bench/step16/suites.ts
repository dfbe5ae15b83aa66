import type { Suites } from "../sides.ts";
import { measureIdleSince } from "../step15/idle.ts";
import { measureBundle } from "./bundle.ts";
import { measureLive } from "./live.ts";
import { measureRecorder } from "./recorder.ts";
import { measureReport } from "./report.ts";
import { measureRuns } from "./runs.ts";

/** The last commit without the page. */
const lastWithoutPage = "5e41f335";

/** What people look at: page, live picture, report, recorder. */
export const step16: Suites = {
  bundle: measureBundle,
  idle: (bench) => measureIdleSince(lastWithoutPage, bench),
  live: measureLive,
  recorder: measureRecorder,
  report: measureReport,
  runs: measureRuns,
};
