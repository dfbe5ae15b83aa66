type Limits = { characters: number; values: number };

/** What an expression gives, or a `set` step keeps: more would hold other calls while it is stored and sent. */
export const mostKept: Limits = { characters: 2_000_000, values: 100_000 };

/** Counts the characters and values that a caller's work makes. */
export class Budget {
  private readonly left: Limits;

  constructor(
    private readonly limits: Limits,
    private readonly refusal: (limit: string) => Error,
  ) {
    this.left = { ...limits };
  }

  /** Counts a text, or a value without what is in it. Throws the refusal once there are too many. */
  spend(value: unknown): void {
    this.left.values -= 1;
    if (typeof value === "string") this.left.characters -= value.length;
    this.check();
  }

  /** Counts the name of a field, which is part of its value. */
  spendKey(key: string): void {
    this.left.characters -= key.length;
    this.check();
  }

  /** Counts a value with all that is in it. */
  spendAll(value: unknown): void {
    this.spend(value);
    if (typeof value !== "object" || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value)) this.spendKey(key);
      this.spendAll(item);
    }
  }

  private check(): void {
    const { characters, values } = this.limits;
    if (this.left.values < 0 || this.left.characters < 0)
      throw this.refusal(`${characters} characters or ${values} values`);
  }
}
