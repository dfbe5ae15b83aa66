import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { run, temporaryFolder } from "./fixtures.ts";

/** Processes start here, on a machine that may do much else. */
const timeout = 180_000;
const bin = join(process.cwd(), "mcp-server/bin/labwright.js");

let folder: ReturnType<typeof temporaryFolder>;
const env = () => ({ PATH: process.env.PATH ?? "", HOME: folder.path, LABWRIGHT_DATA_DIR: folder.path });
beforeEach(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder.path, "labwright.yaml"), "devices: [{ name: box, model: simulated }]\n");
});
afterEach(async () => {
  await run(["stop"], { env: env(), cwd: folder.path });
  folder.remove();
}, timeout);

const press = { actions: [{ command: "press_key", params: { key: "HOME" } }] };
const call = (tool: string, args: object) =>
  `"${process.execPath}" "${bin}" call ${tool} --json '${JSON.stringify(args)}'`;

/** The lines of a shell on a new pseudo-terminal, in a session of its own. */
function inTerminal(lines: readonly string[]) {
  return spawnSync("script", ["-qec", lines.join("\n"), "/dev/null"], {
    cwd: folder.path,
    env: env(),
    encoding: "utf8",
    input: "",
  });
}

/** In a session without a terminal. */
function withoutTerminal(line: string) {
  const { status, stdout, stderr } = spawnSync("setsid", ["--wait", "/bin/sh", "-c", line], {
    cwd: folder.path,
    env: env(),
    encoding: "utf8",
  });
  return { code: status, out: stdout, err: stderr };
}

it(
  "calls of one terminal are one client, whatever shell starts them; another terminal is another",
  () => {
    // Each in a shell of its own, so that no two calls have the same parent.
    const own = [call("take_control", {}), call("execute_device_action", press)];
    const first = inTerminal(own.map((line) => `( ${line}; exit $? ) || exit 1`));
    expect(first.stdout).toContain('"status": "passed"');
    expect(first.status).toBe(0);
    const second = inTerminal([call("execute_device_action", press)]);
    expect(second.stdout).toContain("DEVICE_HELD");
    expect(second.stdout).not.toContain("There is no terminal");
  },
  timeout,
);

it(
  "a call without a terminal is a client of its own, and says that the session_id must be passed",
  () => {
    const taken = withoutTerminal(call("take_control", {}));
    expect(taken).toMatchObject({ code: 0, err: "" });
    const { session_id } = z.object({ session_id: z.string() }).parse(JSON.parse(taken.out));
    const refused = withoutTerminal(call("execute_device_action", press));
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/DEVICE_HELD[\s\S]*no terminal[\s\S]*session_id/),
    });
    const held = withoutTerminal(call("execute_device_action", { ...press, session_id }));
    expect(held).toMatchObject({ code: 0, err: "" });
  },
  timeout,
);
