import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Context, Hono } from "hono";
import { packageFolder } from "../../storage/engine/packageFolder.ts";

/** No script, style or request but ours, no frame around it, no markup made of text. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "cache-control": "no-cache",
};

const files = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/page/main.js": ["main.js", "text/javascript; charset=utf-8"],
  "/page/style.css": ["style.css", "text/css; charset=utf-8"],
} as const;

/** Serves the page, which holds nothing secret, to everyone who may reach the port. */
export function mountPage(app: Hono, folder = join(packageFolder(), "dist", "page")): void {
  for (const [path, [file, type]] of Object.entries(files))
    app.get(path, async (c) => answer(c, await readFile(join(folder, file)).catch(() => undefined), type));
}

function answer(c: Context, bytes: Buffer | undefined, type: string): Response {
  if (bytes === undefined)
    return c.text("This build has no page. Build it again: npm run build\n", 503, headers);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  if (c.req.header("if-none-match") === etag)
    return new Response(null, { status: 304, headers: { ...headers, etag } });
  return new Response(new Uint8Array(bytes), { headers: { ...headers, etag, "content-type": type } });
}
