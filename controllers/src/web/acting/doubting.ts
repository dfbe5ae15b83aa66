import type { Controller } from "../../contract.ts";

type Parts = Pick<Controller, "commands" | "checks" | "screen" | "elements">;

/**
 * The same parts, which doubt the session when one of them fails: a page that is stuck shows by that first. Whoever opens
 * the device next looks whether it answers, which costs a device that is well one question.
 */
export function doubting(session: { doubt(): void }, { commands, checks, screen, elements }: Parts): Parts {
  async function watched<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      session.doubt();
      throw error;
    }
  }
  return {
    commands: commands.map((command) => ({ ...command, run: (...args) => watched(command.run(...args)) })),
    checks: checks.map((check) => ({ ...check, read: (...args) => watched(check.read(...args)) })),
    ...(screen && { screen: { capture: (...args) => watched(screen.capture(...args)) } }),
    ...(elements && { elements: { ...elements, dump: (...args) => watched(elements.dump(...args)) } }),
  };
}
