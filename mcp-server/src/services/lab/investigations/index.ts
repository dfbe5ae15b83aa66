export type { SchemaPort, ToolPort } from "./actions.ts";
export {
  type InvestigationService,
  Investigations,
  type ResumeRequest,
  type StartRequest,
} from "./investigations.ts";
