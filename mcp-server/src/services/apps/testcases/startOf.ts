import type { StartWish, TestCaseInput } from "../../../domain/index.ts";
import type { AppView } from "../userinterfaces/index.ts";

/** How a run starts. `setup` and `storage_state` are for fresh starts only, and never both. */
export type Start = { fresh: boolean; storage_state?: string; setup?: string };

/** What the test case says of its start wins over its app, and what the caller says over both. */
export function startOf(
  testcase: TestCaseInput,
  app: AppView | undefined,
  fresh: boolean | undefined,
): Start {
  const ofApp: StartWish = app?.start ?? {};
  if (!(fresh ?? testcase.fresh ?? ofApp.fresh ?? true)) return { fresh: false };
  const saysItself = [testcase.fresh, testcase.storage_state, testcase.setup].some(
    (one) => one !== undefined,
  );
  const { storage_state, setup } = saysItself ? testcase : ofApp;
  if (storage_state !== undefined) return { fresh: true, storage_state };
  // The set-up test itself starts with nothing.
  return setup === undefined || setup === testcase.name ? { fresh: true } : { fresh: true, setup };
}
