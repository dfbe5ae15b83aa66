import { type Check, defineCheck } from "../contract.ts";
import { untold } from "../elements/readings.ts";
import { portable } from "../portable.ts";
import { elementChecks } from "../screens/checks.ts";
import { packageOf } from "./commands/apps.ts";
import type { AndroidSession } from "./session.ts";
import { readFront } from "./ui/screenFacts.ts";

/** The portable checks. */
export function androidChecks(session: AndroidSession): Check[] {
  return [...elementChecks(session.reader), appShown(session)];
}

function appShown({ device }: AndroidSession): Check {
  return defineCheck({
    ...portable.app_shown,
    async read({ app }, signal) {
      const id = packageOf(app);
      const front = await readFront(device, signal);
      const expected = `${id} is in front`;
      if (front === undefined) return untold(expected, "the device does not say which app is in front");
      const { packageName } = front;
      const actual = packageName === "" ? "no app is" : `${packageName} is`;
      return { holds: packageName === id, expected, actual };
    },
  });
}
