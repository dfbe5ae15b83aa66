export { createAlerts } from "./alerts.ts";
export type {
  AlertDependencies,
  AlertLine,
  AlertPage,
  AlertQuery,
  AlertService,
  AlertUpdate,
  AlertView,
  OutsideAlert,
  OutsideEvent,
  PublishReply,
  Raised,
  RaiseInput,
  ResolveInput,
  TriageAction,
} from "./types.ts";
