import type { Step } from "../../domain/index.ts";
import type { Database } from "../../storage/database.ts";
import type { ExecutionEnd, ExecutionRows, NewExecution } from "../../storage/executionRows.ts";
import type { Clock } from "../ports.ts";

/** A run that is shorter is stored whole at its end. */
const lastsMs = 250;

/**
 * What the database holds of one run. A run that is `brief` gets its row when it lasts or is asked for, and otherwise with its
 * steps and its end in one statement: three times the writing would be half of what a single action takes.
 */
export class RunRecord {
  readonly execution: NewExecution;
  private readonly rows: ExecutionRows;
  private readonly unstored: Step[] = [];
  private tail: Promise<unknown> = Promise.resolve();
  private isOpen: boolean;
  private stopWaiting = () => {};

  /** `isOpen`: its row is there already, as that of a run that a dead process left. */
  constructor(rows: ExecutionRows, execution: NewExecution, isOpen = false) {
    this.isOpen = isOpen;
    this.rows = rows;
    this.execution = execution;
  }

  /** Stores it when it lasts. A failure shows when its end is stored. */
  openLater(clock: Clock): void {
    this.stopWaiting = clock.setTimeout(() => void this.open().catch(() => undefined), lastsMs);
  }

  /** Makes the row now, unless it is there. */
  open(): Promise<void> {
    return this.inTurn(async () => {
      if (this.isOpen) return;
      await this.rows.insert(this.execution);
      this.isOpen = true;
      for (const step of this.unstored.splice(0)) await this.rows.appendStep(this.execution.id, step);
    });
  }

  step(step: Step): Promise<void> {
    return this.inTurn(async () => {
      if (this.isOpen) await this.rows.appendStep(this.execution.id, step);
      else this.unstored.push(step);
    });
  }

  /** The first end stands. `along` is done in the same transaction. */
  end(end: ExecutionEnd, along: ((tx: Database) => Promise<void>) | undefined): Promise<void> {
    this.stopWaiting();
    return this.inTurn(async () => {
      if (this.isOpen || along) await this.rows.finish(this.execution.id, end, along);
      else await this.rows.insertWhole(this.execution, this.unstored, end);
      this.isOpen = true;
    });
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }
}
