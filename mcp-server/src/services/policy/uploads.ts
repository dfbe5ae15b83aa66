import { existsSync, readdirSync, realpathSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { DeviceError, nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";

const usualBytes = 5_000_000;

/** The uploads folder, the one place from which a caller may name files. */
export type Uploads = {
  /** The real path of a file. Throws PATH_DENIED. */
  path(name: string): string;
  /** The path of a file below the folder, with `/`. Throws PATH_DENIED. */
  relative(name: string): string;
  /** Throws PATH_DENIED, INPUT_TOO_LARGE, and INVALID_INPUT for a file that is not text. */
  readText(name: string, maxBytes?: number): Promise<string>;
};

export const createUploads = (folder: string): Uploads => ({
  path: (name) => uploadPath(folder, name),
  relative: (name) => relative(realpathSync(folder), uploadPath(folder, name)).replaceAll(sep, "/"),
  async readText(name, maxBytes = usualBytes) {
    const path = uploadPath(folder, name);
    const found = await stat(path);
    if (!found.isFile()) throw notText(name, "it is not a file");
    if (found.size > maxBytes) {
      const message = `"${name}" has ${found.size} bytes; at most ${maxBytes} are read.`;
      throw new ToolError("INPUT_TOO_LARGE", message, "Split the file.");
    }
    return decode(name, await readFile(path));
  },
});

/** As its byte-order mark says, which is left out; UTF-8 without one. */
function decode(name: string, bytes: Uint8Array): string {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw notText(name, `it is not ${encoding.toUpperCase()}`);
  }
}

const notText = (name: string, why: string) =>
  new ToolError("INVALID_INPUT", `"${name}" cannot be read as text: ${why}.`, "Save the file as UTF-8.");

/** A file inside the folder by its real path, so that neither `..` nor a symlink leads out of it. Throws PATH_DENIED. */
export function uploadPath(folder: string, name: string): string {
  const path = isAbsolute(name) ? name : join(folder, name);
  if (!existsSync(path) || !existsSync(folder)) {
    const near = existsSync(folder) ? nearest(name, readdirSync(folder)) : [];
    const offer = near.length > 0 ? ` Nearest: ${near.join(", ")}.` : "";
    throw new DeviceError(
      "PATH_DENIED",
      `There is no upload "${name}".${offer} Put the file into ${folder}.`,
      { nearest: near },
    );
  }
  const real = realpathSync(path);
  const inside = relative(realpathSync(folder), real);
  const leads = inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  if (leads)
    throw new DeviceError(
      "PATH_DENIED",
      `"${name}" is outside the uploads folder. Put the file into ${folder}.`,
    );
  return real;
}
