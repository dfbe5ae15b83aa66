import { ShellSyntaxError } from "./syntax.ts";

export class Cursor {
  at = 0;

  constructor(private readonly line: string) {}

  over(line: string): Cursor {
    return new Cursor(line);
  }

  isAtEnd(): boolean {
    return this.at >= this.line.length;
  }

  peek(): string {
    return this.line.charAt(this.at);
  }

  rest(count: number): string {
    return this.line.slice(this.at, this.at + count);
  }

  take(): string {
    return this.line.charAt(this.at++);
  }

  skip(wanted: string): boolean {
    if (!this.line.startsWith(wanted, this.at)) return false;
    this.at += wanted.length;
    return true;
  }

  /** Takes what matches here; the pattern is a sticky one. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.line)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  readTo(end: string): string {
    const to = this.line.indexOf(end, this.at);
    if (to < 0) throw new ShellSyntaxError(`no closing ${end}`);
    const found = this.line.slice(this.at, to);
    this.at = to + end.length;
    return found;
  }
}
