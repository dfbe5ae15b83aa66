import { DeviceError, nearest, type ReferencePicture } from "@labwright/controllers";
import { type Database, referenceRows } from "../../../storage/index.ts";
import { userinterfaceRows } from "../../../storage/rows/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { meantApp } from "../../records/project.ts";
import { sizeOf } from "./crops.ts";
import { ReferenceFiles } from "./referenceFiles.ts";

/**
 * Finds the picture of a reference by its name in the app in use, or by `userinterface/name`. Throws REFERENCE_NOT_FOUND with the
 * nearest names.
 */
export type FindPicture = (of: {
  app: string | undefined;
  model: string;
  name: string;
}) => Promise<ReferencePicture>;

type Dependencies = { db: Database; folder: string; clock: Clock };

/** More than any userinterface has. */
const all = 100_000;

export function createFindPicture({ db, folder, clock }: Dependencies): FindPicture {
  const files = new ReferenceFiles(folder, clock);
  const rows = referenceRows(db);
  const appOf = async (ref: string) => meantApp(await userinterfaceRows(db).meant(ref), ref);
  const rowOf = async (app: string | undefined, device_model: string, name: string) => {
    const found = app === undefined ? undefined : await appOf(app);
    return found && rows.find({ userinterface_id: found.id, device_model, name });
  };
  const namesOf = async (app: string, device_model: string) => {
    const userinterface_id = (await appOf(app))?.id ?? "";
    const { found } = await rows.list({ userinterface_id, device_model }, all);
    return found.flatMap((one) => (one.kind === "image" ? [one.name] : []));
  };
  return async ({ app, model, name }) => {
    const [, named, short] = /^([^/]+)\/(.+)$/.exec(name) ?? [];
    const row = (await rowOf(app, model, name)) ?? (await rowOf(named, model, short ?? ""));
    if (row?.sha256 === undefined) {
      const of = app ?? named;
      throw of === undefined ? noApp(name) : notFound(of, model, name, await namesOf(of, model));
    }
    const bytes = await files.get(row.sha256);
    const size = await sizeOf(bytes);
    const rotation = row.space?.rotation ?? 0;
    const picture = { mimeType: "image/png", bytes, ...size, rotation, takenAt: row.updated_at } as const;
    return { picture, ...(row.area && { area: row.area }), ...(row.space && { space: row.space }) };
  };
}

const noApp = (name: string) =>
  new DeviceError(
    "REFERENCE_NOT_FOUND",
    `No app is in use here, and the reference "${name}" belongs to one; write it with its userinterface, as tv/${name}.`,
  );

function notFound(app: string, model: string, name: string, names: readonly string[]): DeviceError {
  const near = nearest(name, names);
  const next = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "save_reference takes one.";
  return new DeviceError(
    "REFERENCE_NOT_FOUND",
    `${app} has no picture "${name}" for the model ${model}. ${next}`,
    { nearest: near },
  );
}
