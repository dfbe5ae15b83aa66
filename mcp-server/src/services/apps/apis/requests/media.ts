import type { ApiMedia, ApiOperation } from "../../../../domain/index.ts";

export const isJson = (type: string): boolean => /[/+]json\b/i.test(type) || type === "*/*";
export const isForm = (type: string): boolean =>
  type === "application/x-www-form-urlencoded" || isMultipart(type);
export const isMultipart = (type: string): boolean => type.startsWith("multipart/form-data");

/** How an operation takes its body: JSON before forms before the rest, which is sent as a text. */
export function mediaOf({ body }: ApiOperation): [type: string, media: ApiMedia] | undefined {
  const offered = Object.entries(body?.content ?? {});
  return offered.find(([type]) => isJson(type)) ?? offered.find(([type]) => isForm(type)) ?? offered[0];
}
