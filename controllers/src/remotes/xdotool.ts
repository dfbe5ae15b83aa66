import { createInterface } from "node:readline";
import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import type { Moment } from "../ports.ts";
import { type RunningProgram, runProgram, startProgram } from "../programs/run.ts";
import { inTurn, withDeadline } from "../waiting/deadlines.ts";

/** How to get xdotool, for a person. */
export const installXdotool = "sudo apt-get install -y xdotool";

const answerMs = 5_000;

/**
 * One xdotool that takes its commands on its standard input, since starting one for each key takes 20 times as long. Commands run
 * one after another. Each is followed by a question to the X server, so it has arrived when the answer has.
 */
export class Xdotool {
  readonly #display: string;
  readonly #program: RunningProgram;
  readonly #inTurn = inTurn();
  #answered: (line: string) => void = () => undefined;
  #ended: (error: DeviceError) => void = () => undefined;
  #said = "";
  #isRunning = true;

  /** Throws DEVICE_ERROR when there is no such program. */
  constructor(display: string, onEnd: () => void) {
    this.#display = display;
    this.#program = startProgram("xdotool", ["-"], { env: onDisplay(display) });
    const { stdout, stderr } = this.#program.child;
    if (stdout) createInterface({ input: stdout }).on("line", (line) => this.#answered(line));
    stderr?.on("data", (part: Buffer) => {
      this.#said = (this.#said + part.toString()).slice(-1_000);
    });
    const gone = () => {
      if (!this.#isRunning) return;
      this.#isRunning = false;
      this.#ended(unreachable(display, this.#said));
      onEnd();
    };
    this.#program.child.once("error", gone).once("close", gone);
  }

  isRunning(): boolean {
    return this.#isRunning;
  }

  async end(): Promise<void> {
    this.#isRunning = false;
    this.#ended(unreachable(this.#display, "it was closed"));
    await this.#program.end(0);
  }

  /**
   * Runs commands, one a line, and returns when the display has them. Throws DEVICE_OFFLINE for a display that has gone, COMMAND_TIMEOUT
   * for one that does not answer within 5 s, which also ends the program, and DEVICE_ERROR for what xdotool complains of.
   */
  run(commands: readonly string[], signal: AbortSignal): Promise<Moment> {
    return this.#inTurn(() => this.#run(commands, signal));
  }

  async #run(commands: readonly string[], signal: AbortSignal): Promise<Moment> {
    signal.throwIfAborted();
    if (!this.#isRunning) throw unsent(unreachable(this.#display, this.#said));
    this.#said = "";
    const late = withDeadline(signal, answerMs);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#answered = () => resolve();
        this.#ended = reject;
        late.signal.addEventListener("abort", () => reject(silent(this.#display)), { once: true });
        this.#program.child.stdin?.write([...commands, "getmouselocation", ""].join("\n"));
      });
    } catch (error) {
      // Its answer would be taken for that of the next command.
      if (late.signal.aborted) void this.#program.end(0);
      throw error;
    } finally {
      late.done();
      this.#ended = () => undefined;
    }
    const sentAt = performance.now();
    if (this.#said !== "") throw refused(this.#said);
    return sentAt;
  }
}

/** Runs one command of xdotool with its output. Throws DEVICE_OFFLINE for a display that cannot be reached, and what runProgram throws. */
export async function askXdotool(
  display: string,
  args: readonly string[],
  { input, signal, env }: { input?: string; signal: AbortSignal; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { code, stdout, stderr } = await runProgram("xdotool", args, {
    signal,
    timeoutMs: answerMs + (input?.length ?? 0) * 50,
    env: onDisplay(display, env),
    ...(input !== undefined && { input }),
  });
  if (code !== 0 || /can't open display/i.test(stderr)) throw unreachable(display, stderr);
  return stdout.trim();
}

const onDisplay = (display: string, env: NodeJS.ProcessEnv = process.env) => ({ ...env, DISPLAY: display });

const unreachable = (display: string, said: string) =>
  new DeviceError(
    "DEVICE_OFFLINE",
    `The display ${display} cannot be reached: ${said.trim().slice(0, 200) || "xdotool ended"}. Start what shows the device there, or correct controllers.x11.display.`,
  );

const silent = (display: string) =>
  new DeviceError(
    "COMMAND_TIMEOUT",
    `The display ${display} did not answer within ${answerMs} ms or the command was cancelled. See whether its X server still works.`,
  );

const refused = (said: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `xdotool complains: ${said.trim().slice(0, 200)}. Correct the key in controllers.x11.keys.`,
  );
