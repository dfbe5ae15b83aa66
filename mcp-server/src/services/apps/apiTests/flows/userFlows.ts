import type { ApiCheck, ApiOperation, FaultId } from "../../../../domain/index.ts";
import { conditionOf, type Generated } from "../graphs.ts";
import type { Ask } from "../types.ts";
import { flow, requestIn, type Sent, setupAsk, setupFor, type World } from "../world.ts";

const any: ApiCheck[] = [{ status: ["2xx", "3xx", "4xx"] }];
const writes: readonly string[] = ["PUT", "PATCH", "DELETE"];

/** What another user may do to what is not theirs: refused one way, it should be refused the other ways too. */
export async function otherUser(
  creator: ApiOperation,
  read: ApiOperation,
  world: World,
): Promise<Generated | undefined> {
  const [, role] = world.roles;
  if (role === undefined) return undefined;
  const { asks: setup, parameters } = await setupFor(read, { variant: 7 }, world);
  const as = (id: string, operation: ApiOperation, sent: Sent) => {
    const request = requestIn(operation, { ...sent, role }, world);
    return setupAsk(id, `${operation.id} as ${role}`, operation, request, any);
  };
  const { values: absent } = await world.goodOf(read, 8);
  const asks = [
    ...setup,
    as("foreign_read", read, { parameters }),
    as("absent_read", read, { values: { parameters: absent.parameters } }),
  ];
  const verdicts = [
    verdict("hidden", "!(foreign_read.output.status == 403 && absent_read.output.status == 404)", {
      ...{ operation: read.id, fault: "F204", shows: "foreign_read" },
      label: `to ${role} the same status for what is there and what is not`,
    }),
  ];
  const own = world.spec.operations.filter(
    ({ path, method }) => path === read.path && writes.includes(method),
  );
  for (const [at, operation] of own.entries()) {
    const shows = `foreign_${at + 1}`;
    const { values } = await world.goodOf(operation, 0);
    asks.push(as(shows, operation, { values, parameters }));
    const isOpen = `foreign_read.output.status in [401, 403, 404] && ${shows}.output.status < 300`;
    verdicts.push(
      verdict(`kept_${at + 1}`, `!(${isOpen})`, {
        ...{ operation: operation.id, fault: "F206", shows, label: `refused to ${role}, as reading it is` },
      }),
    );
  }
  return flow(creator, "another user", [...asks, ...verdicts], world);
}

const verdict = (
  id: string,
  expression: string,
  said: { operation: string; fault: FaultId; shows: string; label: string },
): Ask => conditionOf(id, expression, { ...said, field: "credentials" });
