export { requestIn } from "./asked.ts";
export { offlineTools } from "./lookups.ts";
export type { OfflineAnswer, OfflineGiven } from "./request.ts";
export { runOffline } from "./runOffline.ts";
