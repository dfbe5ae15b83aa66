import type { StepActivity } from "./execution.ts";

export const isFaultyLine = ({ level }: StepActivity["console"][number]): boolean =>
  level === "exception" || level === "error";

/** Not a request that the page gave up itself. */
export const isFaultyRequest = ({
  status = 0,
  failure = "ABORTED",
}: StepActivity["requests"][number]): boolean => status >= 400 || !/ABORTED|CANCELLED/i.test(failure);
