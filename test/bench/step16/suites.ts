import type { Suites } from "../sides.ts";
import { measureIdleSince } from "../step15/idle.ts";
import { measureBundle } from "./bundle.ts";
import { measureLive } from "./live.ts";
  recorder: measureRecorder,
