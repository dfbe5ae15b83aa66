// node test/faults/run.mjs [--minutes 15] [--seed N]: the fault suite, long, with its table at the end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" } } });
const env = {
  ...process.env,
  FAULT_MINUTES: values.minutes ?? "15",
  ...(values.seed !== undefined && { FAULT_SEED: values.seed }),
};
const cwd = fileURLToPath(new URL("../../", import.meta.url));
const child = spawn("npx", ["vitest", "run", "test/faults"], { cwd, env, stdio: "inherit" });
const [code] = await once(child, "close");
process.exitCode = code ?? 1;
