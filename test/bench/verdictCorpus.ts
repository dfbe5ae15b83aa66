import { down, slowApp, slowMachine } from "./verdictAround.ts";
import { appBugs, moreBugs } from "./verdictBugs.ts";
import { frozen, lost, sound, wrongTests } from "./verdictOthers.ts";
import type { Cause, Run, Runs } from "./verdictRun.ts";

const of = (cause: Cause, runs: Runs): Run[] => runs.map((run) => ({ ...run, cause }));

/** In the order in which they run: causes that disturb the device stand among ones that must not notice. */
export const corpus: readonly Run[] = [
  ...interleave([
    of("app bug", [...appBugs, ...moreBugs]),
    of("app down", down),
    of("slow app", slowApp),
    of("wrong test", wrongTests),
    of("slow machine", slowMachine),
    of("none", sound),
    of("lost browser", lost),
  ]),
  ...of("frozen page", frozen),
];

/** Failing runs whose verdict a loaded machine must not change. */
export const loadedCorpus: readonly Run[] = of("app bug, loaded machine", appBugs);

function interleave(groups: readonly (readonly Run[])[]): Run[] {
  const most = Math.max(...groups.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => groups.flatMap((group) => group.slice(at, at + 1))).flat();
}
