import { ToolError } from "../errors.ts";

/** What `services/policy/production.ts` judges. Throws POLICY_DENIED. */
type Production = {
  judgeWrite(request: { environment?: string | undefined; method: string; url: string }): void;
  judgePersonalData(request: {
    environment?: string | undefined;
    names: readonly string[];
    to: string;
  }): void;
};

type Asked = {
  environment?: string | undefined;
  writes: readonly { method: string; url: string }[];
  /** Names of data, and what they would be sent to. */
  personal?: { names: readonly string[]; to: string } | undefined;
};

/** Whether a plan may do what it would: `undefined`, or why not and what to do. */
export type RunPolicy = {
  judge(asked: Asked): Promise<{ message: string; hint: string } | undefined>;
};

/**
 * Asks the one judgement of production and personal data before a run is made.
 * @public main.ts takes it from the rooms that it loads
 */
export const runPolicyOf = (production: Production): RunPolicy => ({
  async judge({ environment, writes, personal }) {
    try {
      for (const write of writes) production.judgeWrite({ ...write, environment });
      if (personal) production.judgePersonalData({ ...personal, environment });
      return undefined;
    } catch (error) {
      if (error instanceof ToolError && error.code === "POLICY_DENIED")
        return { message: error.message, hint: error.hint };
      throw error;
    }
  },
});
