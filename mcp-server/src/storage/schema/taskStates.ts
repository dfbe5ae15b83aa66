export const agentTaskStates = ["pending", "running", "done", "failed", "cancelled"] as const;
export type AgentTaskState = (typeof agentTaskStates)[number];
