import { z } from "zod";

export const hostSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,250}$|^[0-9A-Fa-f:]{2,45}$/,
    "a host is a name or an IP address, without a port",
  )
  .describe("Name or IP address.");
export const portSchema = z.int().min(1).max(65_535);

/** The setting `keys`: name of a key to a code of this form. */
export const keysSchema = (code = /^\P{Cc}{1,4000}$/u) =>
  z
    .record(
      z.string().regex(/^[A-Z0-9][A-Z0-9_]{0,39}$/, "a key is named in capitals"),
      z.string().regex(code, "the driver cannot send this code"),
    )
    .default({})
    .describe("Further keys, or other codes for known ones: name in capitals to the code that is sent.");

/** A table of keys, `NAME:code` each, with the user's own over it. */
export const keyMap = (table: string, own: Readonly<Record<string, string>>): Map<string, string> =>
  new Map([
    ...table
      .split(/\s+/)
      .filter((pair) => pair !== "")
      .map((pair): [string, string] => {
        const at = pair.indexOf(":");
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ...Object.entries(own),
  ]);
