import { AsyncLocalStorage } from "node:async_hooks";
import type { Command, CommandResult, Controller } from "./contract.ts";
import { DeviceError } from "./errors.ts";

/**
 * The controllers of one device, whose commands act for the newest lease alone: the first command with a higher fence
 * stops what runs by an older one, waits until that has stopped, and from then on older ones throw FENCE_OUTDATED. A
 * command without a fence has that of the command within which it is run; without one it counts as older than every lease.
 */
export function fenced(controllers: readonly Controller[]): readonly Controller[] {
  const fence = new Fence();
  return controllers.map((controller) => ({
    ...controller,
    commands: controller.commands.map((command) => fence.guard(command)),
  }));
}

const running = new AsyncLocalStorage<number>();

type Acting = { fence: number; control: AbortController; ended: Promise<unknown> };

class Fence {
  private newest = 0;
  private readonly acting = new Set<Acting>();

  guard(command: Command): Command {
    return {
      ...command,
      run: (input, signal, fence = running.getStore() ?? 0) =>
        this.act(fence, signal, (fencedSignal) =>
          running.run(fence, () => command.run(input, fencedSignal, fence)),
        ),
    };
  }

  private async act(
    fence: number,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<CommandResult>,
  ): Promise<CommandResult> {
    this.admit(fence);
    await this.stopOlder(signal);
    this.admit(fence);
    const control = new AbortController();
    const result = run(AbortSignal.any([signal, control.signal]));
    const acting = { fence, control, ended: result.catch(() => undefined) };
    this.acting.add(acting);
    try {
      return await result;
    } catch (error) {
      throw control.signal.aborted ? control.signal.reason : error;
    } finally {
      this.acting.delete(acting);
    }
  }

  private admit(fence: number): void {
    if (fence < this.newest) throw outdated(fence, this.newest);
    this.newest = fence;
  }

  private async stopOlder(signal: AbortSignal): Promise<void> {
    const older = [...this.acting].filter(({ fence }) => fence < this.newest);
    if (older.length === 0) return;
    for (const { fence, control } of older) control.abort(outdated(fence, this.newest));
    await Promise.race([Promise.all(older.map(({ ended }) => ended)), aborted(signal)]);
    signal.throwIfAborted();
  }
}

const outdated = (fence: number, newest: number) =>
  new DeviceError(
    "FENCE_OUTDATED",
    `This command belongs to lease ${fence} of the device, and lease ${newest} has begun; take control again.`,
  );

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
