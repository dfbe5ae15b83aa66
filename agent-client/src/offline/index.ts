export { requestIn } from "./asked.ts";
export { offlineTools } from "./listings.ts";
export type { OfflineAnswer } from "./request.ts";
export { runOffline } from "./runOffline.ts";
