import { randomUUID } from "node:crypto";
import { rectIn, type Space } from "@labwright/controllers";
import type { Area, ReferenceDocument, ReferenceKind } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { type Database, type ReferenceRow, referenceRows } from "../../../storage/index.ts";
import type { Clock, OpenDevice, Secrets, ShownPicture } from "../../ports.ts";
import { storableText } from "../../records/executions/storable.ts";
import { mostFitting, pageOf } from "../../values/pages.ts";
import { scaleFrame } from "../screen/pictures.ts";
import { areaIn, checkPng, cropOf, dumpOf, elementOf, frameOf, placeIn, textIn, textOf } from "./onScreen.ts";
import { ReferenceFiles } from "./referenceFiles.ts";

export { createFindPicture, type FindPicture } from "./referenceFiles.ts";

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
  keepSources(keeper: ReferenceKeeper): void;
  /** Puts these in place of those that the userinterface has. Throws INVALID_INPUT for a file that is not a picture. */
  importAll(
    references: readonly ReferenceDocument[],
    options: { tx: Database; userinterfaceId: string },
  ): Promise<void>;
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

const mostText = 10_000;
/** More than any userinterface has: an export takes all of them. */
const all = 100_000;

type Taken = Partial<Place> & { text?: string; png?: Buffer };
type Place = { area: Area; space: Space };

export const createReferences = (deps: ReferenceDependencies): ReferenceService => new References(deps);

class References implements ReferenceService {
  private readonly deps: ReferenceDependencies;
  private readonly files: ReferenceFiles;
  private keeper: ReferenceKeeper = async () => undefined;

  constructor(deps: ReferenceDependencies) {
    this.deps = deps;
    this.files = new ReferenceFiles(deps.folder, deps.clock);
    deps.userinterfaces.onRemove(() => this.removeOrphans());
  }

  async save(device: OpenDevice, spec: ReferenceSpec, signal: AbortSignal): Promise<SavedReference> {
    const { id: userinterface_id } = await this.deps.userinterfaces.get(spec.userinterface_name);
    const key = { userinterface_id, device_model: device.model, name: spec.name };
    const rows = referenceRows(this.deps.db);
    const before = await rows.find(key);
    if (before && !spec.replace) throw alreadyThere(key);
    const { png, ...taken } = await this.take(device, spec, signal);
    const sha256 = png && (await this.files.put(png));
    const at = this.now();
    const row: ReferenceRow = {
      ...{ id: randomUUID(), ...key, kind: spec.kind, ...taken, created_at: at, updated_at: at },
      ...(sha256 !== undefined && { sha256 }),
    };
    await this.deps.db.transaction(async (tx) => {
      if (spec.replace) await referenceRows(tx).put(row);
      else if (!(await referenceRows(tx).insert(row))) throw alreadyThere(key);
      await this.keeper(tx, userinterface_id);
    });
    await this.removeOrphans();
    const shown = png && (await scaleFrame(png));
    return { ...viewOf(row), replaced: before !== undefined, ...(shown && { shown }) };
  }

  async list({ userinterface_name, model, maxTokens }: ReferenceQuery) {
    const userinterface =
      userinterface_name === undefined ? undefined : await this.deps.userinterfaces.get(userinterface_name);
    const filter = { userinterface_id: userinterface?.id, device_model: model };
    const { found, total } = await referenceRows(this.deps.db).list(filter, mostFitting(maxTokens));
    const lines = found.map((row) => ({ userinterface_name: row.userinterface_name, ...viewOf(row) }));
    const { items: references } = pageOf(lines, 0, maxTokens);
    return { references, more: total - references.length };
  }

  picture(sha256: string): Promise<Uint8Array> {
    return this.files.get(sha256);
  }

  keepSources(keeper: ReferenceKeeper): void {
    this.keeper = keeper;
  }

  async exportFor(userinterfaceId: string, db = this.deps.db): Promise<ReferenceDocument[]> {
    const { found } = await referenceRows(db).list({ userinterface_id: userinterfaceId }, all);
    return Promise.all(found.map((row) => this.documentOf(row)));
  }

  async importAll(
    references: readonly ReferenceDocument[],
    { tx, userinterfaceId }: { tx: Database; userinterfaceId: string },
  ): Promise<void> {
    const rows = referenceRows(tx);
    await rows.removeOf(userinterfaceId);
    for (const reference of references) await rows.put(await this.rowOf(reference, userinterfaceId));
  }

  removeOrphans(): Promise<void> {
    return this.files.removeOrphans((sha256) => referenceRows(this.deps.db).used(sha256));
  }

  private take(device: OpenDevice, spec: ReferenceSpec, signal: AbortSignal): Promise<Taken> {
    if (spec.area && spec.element !== undefined) throw twoPlaces();
    return spec.kind === "image"
      ? this.takePicture(device, spec, signal)
      : this.takeText(device, spec, signal);
  }

  private async takePicture(device: OpenDevice, spec: ReferenceSpec, signal: AbortSignal): Promise<Taken> {
    if (spec.text !== undefined) throw imageWithText();
    const { element } = spec;
    const dump = element === undefined ? undefined : await dumpOf(device, signal);
    const frame = await frameOf(device, signal);
    const area = areaIn(frame, dump && element !== undefined ? placeIn(frame, dump, element) : spec.area);
    return { area, space: spaceOf(frame), png: await cropOf(frame, area) };
  }

  private async takeText(device: OpenDevice, spec: ReferenceSpec, signal: AbortSignal): Promise<Taken> {
    const { area, element, text } = spec;
    const frame = area && (await frameOf(device, signal));
    const place = frame && { area: areaIn(frame, area), space: spaceOf(frame) };
    if (text !== undefined) return this.textOf(text, place);
    const dump = await dumpOf(device, signal);
    if (element !== undefined) return this.textOf(textOf(elementOf(dump, element)), place);
    if (place) return this.textOf(textIn(dump, rectIn(dump.space, place.area, place.space)), place);
    throw noPlace("Nothing says which text is wanted.");
  }

  /** A screen's text may hold a secret that was typed into it. */
  private textOf(shown: string, place: Place | undefined): Taken {
    const text = this.deps.secrets.mask(storableText(shown)).trim();
    if (text === "") throw noPlace("There is no text.");
    if (text.length > mostText)
      throw noPlace(`The text has ${text.length} characters; at most ${mostText} are kept.`);
    return { text, ...place };
  }

  private async documentOf(row: ReferenceRow): Promise<ReferenceDocument> {
    const { name, device_model, area, space, text = "", sha256 = "" } = row;
    const place = { ...(area && { area }), ...(space && { space }) };
    if (row.kind === "text") return { kind: "text", name, device_model, text, ...place };
    const png = (await this.files.get(sha256)).toString("base64");
    return { kind: "image", name, device_model, png, ...place };
  }

  private async rowOf(document: ReferenceDocument, userinterfaceId: string): Promise<ReferenceRow> {
    const at = this.now();
    const row = {
      ...{ id: randomUUID(), userinterface_id: userinterfaceId, kind: document.kind },
      ...{ device_model: document.device_model, name: document.name, created_at: at, updated_at: at },
      ...(document.area && { area: document.area }),
      ...(document.space && { space: document.space }),
    };
    if (document.kind === "text") return { ...row, text: storableText(document.text) };
    const png = Buffer.from(document.png, "base64");
    await checkPng(png, document);
    return { ...row, sha256: await this.files.put(png) };
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }
}

const spaceOf = ({ width, height, rotation }: Space): Space => ({ width, height, rotation });

function viewOf({ name, device_model, kind, area, text, sha256 }: ReferenceRow): ReferenceView {
  return {
    name,
    model: device_model,
    kind,
    ...(area && { area }),
    ...(text !== undefined && { text }),
    ...(sha256 !== undefined && { uri: `reference://${sha256}` }),
  };
}

function alreadyThere({ name, device_model }: { name: string; device_model: string }): ToolError {
  return new ToolError(
    "ALREADY_EXISTS",
    `There already is a reference "${name}" of ${device_model} in this userinterface.`,
    "Pass replace: true to put this one in its place, or choose another name.",
  );
}

const twoPlaces = () =>
  new ToolError("INVALID_INPUT", "area and element both say where.", "Give one of them.");

const imageWithText = () =>
  new ToolError("INVALID_INPUT", "An image has no text.", "Leave text out, or use kind: text.");

const noPlace = (what: string) =>
  new ToolError(
    "INVALID_INPUT",
    what,
    "Give element, or area in pixels of the full frame; for kind: text, text itself will do.",
  );
