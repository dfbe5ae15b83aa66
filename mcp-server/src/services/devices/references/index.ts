export { createFindPicture, type FindPicture } from "./named.ts";
export { createReferences } from "./references.ts";
export type {
  ReferenceDependencies,
  ReferenceLine,
  ReferenceQuery,
  ReferenceService,
  ReferenceSpec,
  ReferenceView,
  SavedReference,
} from "./types.ts";
