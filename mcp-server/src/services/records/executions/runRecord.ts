import type { Step } from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type {
  ExecutionEnd,
  ExecutionRows,
  FinishedRun,
  NewExecution,
} from "../../../storage/rows/executionRows.ts";
import type { Clock } from "../../ports.ts";

/** A run that is shorter is stored whole at its end. */
const lastsMs = 250;

/** The rows of one run. After {@link openLater} they are written when the run lasts or is looked for, else all at once at its end. */
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
      await this.storeSteps();
    });
  }

  step(step: Step): Promise<void> {
    return this.inTurn(async () => {
      if (this.isOpen && this.unstored.length === 0) return this.rows.appendStep(this.execution.id, step);
      this.unstored.push(step);
      if (this.isOpen) await this.storeSteps();
    });
  }

  /** The run with its steps and this end, for whoever stores it in place of {@link end}; undefined when its row is there. */
  async whole(end: ExecutionEnd): Promise<FinishedRun | undefined> {
    this.stopWaiting();
    await this.tail;
    return this.isOpen ? undefined : { execution: this.execution, steps: this.unstored, end };
  }

  /** The first end stands. `along` is done in the same transaction. */
  end(end: ExecutionEnd, along: ((tx: Database) => Promise<void>) | undefined): Promise<void> {
    this.stopWaiting();
    return this.inTurn(async () => {
      if (!this.isOpen && !along)
        return this.rows.insertFinished({ execution: this.execution, steps: this.unstored, end });
      await this.storeSteps();
      await this.rows.finish(this.execution.id, end, along);
    });
  }

  /** One is forgotten only when it is stored. */
  private async storeSteps(): Promise<void> {
    for (let step = this.unstored[0]; step; step = this.unstored[0]) {
      await this.rows.appendStep(this.execution.id, step);
      this.unstored.shift();
    }
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }
}
