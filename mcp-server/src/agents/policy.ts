import type { Policy } from "@labwright/agent-client";
import { ToolError } from "../errors.ts";

type Asked = Parameters<Policy["judge"]>[0];
type Place = Pick<Asked, "environment">;
/** What `services/policy/production.ts` judges. Throws POLICY_DENIED. */
type Production = {
  judgeWrite(request: Place & Asked["writes"][number]): void;
  judgePersonalData(request: Place & NonNullable<Asked["personal"]>): void;
};

/**
 * Asks the one judgement of production and personal data before a run is made.
 * @public main.ts takes it from the rooms that it loads
 */
export const runPolicyOf = (production: Production): Policy => ({
  async judge({ environment, writes, personal }) {
    try {
      for (const write of writes) production.judgeWrite({ ...write, environment });
      if (personal) production.judgePersonalData({ ...personal, environment });
      return undefined;
    } catch (error) {
      if (!(error instanceof ToolError && error.code === "POLICY_DENIED")) throw error;
      return { message: error.message, hint: error.hint };
    }
  },
});
