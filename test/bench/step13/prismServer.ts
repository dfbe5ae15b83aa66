import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../fixtures/loopback.ts";

const program = "node_modules/@stoplight/prism-cli/dist/index.js";
const startLimitMs = 60_000;

/** Installs Prism into `.setup` of the checkout (186 packages, 90 MB), once. Returns its program. */
export async function installPrism(root: string): Promise<string> {
  const folder = join(root, ".setup/bench-prism");
  const file = join(folder, program);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  const own = join(root, "test/bench/step13/prism");
  for (const name of ["package.json", "package-lock.json"]) await cp(join(own, name), join(folder, name));
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  return file;
}

/** Prism's mock of a document. It is started again when it crashes, as a supervisor would; undefined where it does not serve it. */
export async function startPrism(file: string, document: string) {
  const port = await freePort();
  let isOver = false;
  let said = "";
  let starts = 0;
  let child: ReturnType<typeof start>;
  const start = () => {
    starts += 1;
    const args = [file, "mock", "--port", String(port), document];
    const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [started.stdout, started.stderr])
      stream.on("data", (text: Buffer) => {
        said = `${said}${text}`.slice(-2_000);
      });
    started.on("exit", () => {
      if (!isOver && starts < 200) child = start();
    });
    return started;
  };
  child = start();
  const end = () => {
    isOver = true;
    child.kill();
  };
  const until = performance.now() + startLimitMs;
  while (!said.includes("is listening") && performance.now() < until && starts < 3) await pause(100);
  if (!said.includes("is listening")) {
    end();
    return undefined;
  }
  return { url: `http://127.0.0.1:${port}`, end, crashes: () => starts - 1 };
}
