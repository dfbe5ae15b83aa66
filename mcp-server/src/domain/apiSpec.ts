import { z } from "zod";
import { labelSchema } from "./common.ts";

/**
 * A JSON Schema 2020-12, whatever the document was written in: `nullable`, a boolean `exclusiveMinimum`, `example` and
 * `discriminator` are translated. A reference is always `#/$defs/NAME`, where NAME is one of the `definitions` of the spec.
 */
export const apiJsonSchema = z.union([z.record(z.string(), z.unknown()), z.boolean()]);
export type ApiJsonSchema = z.output<typeof apiJsonSchema>;

export const parameterPlaces = ["path", "query", "header", "cookie"] as const;
export const parameterStyles = [
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
  /** Of Swagger 2 (`collectionFormat: tsv`). */
  "tabDelimited",
] as const;

export const apiParameterSchema = z.strictObject({
  name: z.string(),
  in: z.enum(parameterPlaces),
  required: z.boolean(),
  schema: apiJsonSchema,
  /** How a list or an object is written, with the default of its place filled in. */
  style: z.enum(parameterStyles),
  explode: z.boolean(),
  /** The value goes as a text of this media type (`content` of the document). */
  content_type: z.string().optional(),
  examples: z.array(z.unknown()),
});
export type ApiParameter = z.output<typeof apiParameterSchema>;

export const apiMediaSchema = z.strictObject({
  /** Undefined where the document gives none: any content will do. */
  schema: apiJsonSchema.optional(),
  examples: z.array(z.unknown()),
});
export type ApiMedia = z.output<typeof apiMediaSchema>;

/** A follow-up request that the document promises (OpenAPI's Link Object). */
export const apiLinkSchema = z.strictObject({
  /** The id of the operation, if it is one of this spec. */
  operation_id: z.string(),
  /** By parameter name, or `path.NAME` and the like. A text that starts with `$` is a runtime expression, as `$response.body#/id`. */
  parameters: z.record(z.string(), z.unknown()),
});
export type ApiLink = z.output<typeof apiLinkSchema>;

export const apiResponseSchema = z.strictObject({
  /** By media type, in the document's order. Empty: no body is described. */
  content: z.record(z.string(), apiMediaSchema),
  /** Names in lower case. */
  required_headers: z.array(z.string()),
  links: z.array(apiLinkSchema),
});
export type ApiResponse = z.output<typeof apiResponseSchema>;

export const httpMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] as const;

/** One of these is enough; each names all the schemes that it needs, with their scopes. `{}` means none is needed. */
const securitySchema = z.array(z.record(z.string(), z.array(z.string())));

export const apiOperationSchema = z.strictObject({
  /** Unique in its spec: `operationId`, else made of method and path. */
  id: z.string(),
  method: z.enum(httpMethods),
  /** With its parameters in braces: `/pets/{petId}`. */
  path: z.string(),
  summary: z.string(),
  tags: z.array(z.string()),
  deprecated: z.boolean(),
  /** Those of the path included; a parameter is unique by `in` and `name`. */
  parameters: z.array(apiParameterSchema),
  body: z
    .strictObject({
      required: z.boolean(),
      /** By media type, in the document's order; at least one. */
      content: z.record(z.string(), apiMediaSchema),
    })
    .optional(),
  /** By `200`, `2XX` or `default`. */
  responses: z.record(z.string(), apiResponseSchema),
  /** The document's own where the operation has none. Empty: no authentication. */
  security: securitySchema,
  /** Replaces the spec's servers where it is not empty. */
  servers: z.array(z.string()),
  /** Everything that starts with `x-`, such as `x-priority`. Those of the path included. */
  extensions: z.record(z.string(), z.unknown()),
});
export type ApiOperation = z.output<typeof apiOperationSchema>;

export const apiSecuritySchemeSchema = z.strictObject({
  type: z.enum(["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"]),
  /** Of an API key. */
  in: z.enum(["query", "header", "cookie"]).optional(),
  name: z.string().optional(),
  /** Of `http`, in lower case: `basic`, `bearer`, ... */
  scheme: z.string().optional(),
});
export type ApiSecurityScheme = z.output<typeof apiSecuritySchemeSchema>;

/** What an OpenAPI document says, in one form for Swagger 2 and OpenAPI 3.0 and 3.1. */
export const apiSpecSchema = z.strictObject({
  name: labelSchema,
  title: z.string(),
  /** `info.version`. */
  version: z.string(),
  /** As the document was written. */
  format: z.enum(["2.0", "3.0", "3.1"]),
  /** Absolute addresses without a slash at the end, with the default of each variable. May be empty. */
  servers: z.array(z.string()),
  security_schemes: z.record(z.string(), apiSecuritySchemeSchema),
  /** Schemas that others refer to as `#/$defs/NAME`. They may refer to each other in cycles. */
  definitions: z.record(z.string(), apiJsonSchema),
  operations: z.array(apiOperationSchema),
});
export type ApiSpec = z.output<typeof apiSpecSchema>;
