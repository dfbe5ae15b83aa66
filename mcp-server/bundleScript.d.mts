import type { Plugin } from "esbuild";

export const scripts: Plugin;
