// npm run interop [-- --all] [vitest's own arguments]: `--all` also fetches Claude Code, about 360 MB, and runs it.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const given = process.argv.slice(2);
const all = given.includes("--all");
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const args = [vitest, "run", "test/interop", ...given.filter((one) => one !== "--all")];
if (!all) process.stdout.write("Not run without --all: Claude Code.\n");
const env = { ...process.env, INTEROP_ALL: String(all) };
spawn(process.execPath, args, { stdio: "inherit", env }).once("exit", (code) => process.exit(code ?? 1));
