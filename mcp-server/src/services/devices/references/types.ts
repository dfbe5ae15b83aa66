import type { Area, ReferenceDocument, ReferenceKind } from "../../../domain/index.ts";
import type { Database } from "../../../storage/index.ts";
import type { Clock, OpenDevice, Secrets, ShownPicture } from "../../ports.ts";

/** `area` or `element` limits it to a part of the screen; an image needs one of them. */
export type ReferenceSpec = {
  userinterface_name: string;
  name: string;
  kind: ReferenceKind;
  area?: Area | undefined;
  /** A ref, or words as for dump_ui_elements. */
  element?: string | undefined;
  /** Of kind `text`: what is expected, in place of what is shown. */
  text?: string | undefined;
  replace: boolean;
};

/** `uri` is where the picture of one of kind `image` can be read. */
export type ReferenceView = {
  name: string;
  model: string;
  kind: ReferenceKind;
  area?: Area;
  text?: string;
  uri?: string;
};
export type ReferenceLine = ReferenceView & { userinterface_name: string };
/** `shown` is the crop for a model, `scale` its size over the full one's. */
export type SavedReference = ReferenceView & {
  replaced: boolean;
  shown?: ShownPicture;
};

export type ReferenceQuery = {
  userinterface_name?: string | undefined;
  model?: string | undefined;
  maxTokens: number;
};

/** Writes what a transaction stores of an app into the app's file, where it has one. */
export type ReferenceKeeper = (tx: Database, userinterfaceId: string) => Promise<void>;

export type ReferenceService = {
  /** From the live screen. Throws ALREADY_EXISTS unless `replace`, INVALID_INPUT for an area that is not in the frame. */
  save(device: OpenDevice, spec: ReferenceSpec, signal: AbortSignal): Promise<SavedReference>;
  list(query: ReferenceQuery): Promise<{ references: ReferenceLine[]; more: number }>;
  /** A PNG. Throws REFERENCE_NOT_FOUND. */
  picture(sha256: string): Promise<Uint8Array>;
  /** In a fixed order; within a transaction, if one is given. */
  exportFor(userinterfaceId: string, tx?: Database): Promise<ReferenceDocument[]>;
  /** Says who writes the file of an app when a reference of it was stored. */
  keepSources(keeper: ReferenceKeeper): void;
  /** Puts these in place of those that the userinterface has. Throws INVALID_INPUT for what is no picture. */
  importAll(
    references: readonly ReferenceDocument[],
    options: { tx: Database; userinterfaceId: string },
  ): Promise<void>;
  /** Removes pictures that nothing names any more. */
  removeOrphans(): Promise<void>;
};

export type ReferenceDependencies = {
  db: Database;
  folder: string;
  userinterfaces: {
    get(idOrName: string): Promise<{ id: string; name: string }>;
    onRemove(listener: () => Promise<void>): void;
  };
  secrets: Pick<Secrets, "mask">;
  clock: Clock;
};
