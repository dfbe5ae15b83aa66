import { isAbsolute } from "node:path";
import { z } from "zod";

/** The headers by which our own clients say who they are, for which project and with which secrets they call. */
export const clientHeader = "x-labwright-client";
export const projectHeader = "x-labwright-project";

const secretsHeader = "x-labwright-secrets";
const secretsSchema = z.record(z.string(), z.string());

/** Secrets that a client gives to what it calls. */
export const secretHeaders = (secrets: Readonly<Record<string, string>>): Record<string, string> =>
  Object.keys(secrets).length === 0 ? {} : { [secretsHeader]: encodeURIComponent(JSON.stringify(secrets)) };

/** The secrets that a request gives; none where the header is none of ours. */
export function secretsIn(headers: Headers): Record<string, string> | undefined {
  try {
    return secretsSchema.safeParse(JSON.parse(decodeURIComponent(headers.get(secretsHeader) ?? "{}"))).data;
  } catch {
    return undefined;
  }
}

/** The project that a request names. A path that is not absolute names none. */
export function projectIn(headers: Headers | undefined): string | undefined {
  try {
    const path = decodeURIComponent(headers?.get(projectHeader) ?? "");
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
