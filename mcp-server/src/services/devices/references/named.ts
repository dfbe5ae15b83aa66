import { DeviceError, nearest, type ReferencePicture } from "@labwright/controllers";
import { type Database, referenceRows } from "../../../storage/index.ts";
import { userinterfaceRows } from "../../../storage/userinterfaceRows.ts";
import type { Clock } from "../../ports.ts";
import { sizeOf } from "./crops.ts";
import { ReferenceFiles } from "./referenceFiles.ts";

/** Finds the picture of a reference by its name. Throws REFERENCE_NOT_FOUND with the nearest names. */
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
  return async ({ app, model, name }) => {
    if (app === undefined)
      throw new DeviceError(
        "REFERENCE_NOT_FOUND",
        `No app is in use here, and the reference "${name}" belongs to one; name a userinterface.`,
      );
    const userinterface_id = (await userinterfaceRows(db).find(app))?.id ?? "";
    const row = await rows.find({ userinterface_id, device_model: model, name });
    if (row?.sha256 === undefined) {
      const { found } = await rows.list({ userinterface_id, device_model: model }, all);
      const names = found.flatMap((one) => (one.kind === "image" ? [one.name] : []));
      const near = nearest(name, names);
      throw new DeviceError(
        "REFERENCE_NOT_FOUND",
        `${app} has no picture "${name}" for the model ${model}. ${near.length > 0 ? `Did you mean ${near.join(", ")}?` : "save_reference takes one."}`,
        { nearest: near },
      );
    }
    const bytes = await files.get(row.sha256);
    const size = await sizeOf(bytes);
    const rotation = row.space?.rotation ?? 0;
    const picture = { mimeType: "image/png", bytes, ...size, rotation, takenAt: row.updated_at } as const;
    return { picture, ...(row.area && { area: row.area }), ...(row.space && { space: row.space }) };
  };
}
