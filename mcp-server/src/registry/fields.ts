import { z } from "zod";

/** Arguments that many tools share, so that one name means one thing everywhere. */
export const deviceFields = {
  device_id: z.string().min(1).optional(),
  session_id: z.string().min(1).optional().describe("Handle from take_control"),
};

/** How long a call waits for a run; hosts give up at 60 s. */
export const waitField = {
  wait_ms: z.int().min(0).max(600_000).default(45_000),
};

export const maxTokensField = (defaultTokens: number) => ({
  max_tokens: z.int().min(50).max(50_000).default(defaultTokens),
});
