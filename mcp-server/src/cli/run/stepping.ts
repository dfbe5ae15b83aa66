import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection, type RunTerminal } from "./connection.ts";
import type { Seat } from "./seat.ts";

export type Way = "next" | "on" | "stop";

const ways: Readonly<Record<string, Way | "look">> = { n: "next", l: "look", r: "on", s: "stop" };
const screenSchema = z.looseObject({ location: z.string(), elements: z.string() });

/** Shows the step that comes next and asks what to do. `stop` also when the terminal is closed or Ctrl-C is pressed. */
export async function askAtStep(
  { number, step }: { number: number; step: string },
  seat: Seat | undefined,
  connection: RunConnection,
  terminal: RunTerminal,
): Promise<Way> {
  terminal.out(`step ${number}: ${step}\n`);
  for (;;) {
    const answer = await terminal.ask?.("next (Enter), look, run on, stop? ");
    if (answer === undefined) return "stop";
    const way = ways[answer.trim().toLowerCase().charAt(0) || "n"];
    if (way === "look") terminal.out(`${await screenText(seat, connection, terminal.signal)}\n`);
    else if (way) return way;
  }
}

async function screenText(
  seat: Seat | undefined,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string> {
  if (!seat) return "This test case has no device to look at.";
  try {
    const args = { session_id: seat.session_id };
    const { location, elements } = screenSchema.parse(
      await done(connection.call("dump_ui_elements", args, signal)),
    );
    return `${location}\n${elements}`;
  } catch (error) {
    if (error instanceof ToolError) return `${error.message} ${error.hint}`;
    throw error;
  }
}
