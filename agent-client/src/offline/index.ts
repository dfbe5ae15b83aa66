export { offlineTools } from "./listings.ts";
export { type OfflineAnswer, requestIn } from "./request.ts";
export { runOffline } from "./runOffline.ts";
