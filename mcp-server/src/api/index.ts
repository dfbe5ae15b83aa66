export { type ApiDeps, createApi } from "./createApi.ts";
export { createEventsApi, type EventSource } from "./events.ts";
