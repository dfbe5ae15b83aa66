import { StringDecoder } from "node:string_decoder";

const mostBytes = 1_000_000;
const mostLineCharacters = 100_000;
const tail = { lines: 20, characters: 2_000 };

/** What a script says, line by line and bounded: its whole log, the end of it, and its last line of output. */
export class ScriptLog {
  /** The last line of standard output that is not empty. */
  lastOutput = "";
  private readonly lines: string[] = [];
  private bytes = 0;
  private lost = 0;
  private readonly onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.onLine = onLine;
  }

  /** Takes one of the program's streams to its end. */
  read(stream: NodeJS.ReadableStream | null, isOutput: boolean): void {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    const take = (text: string) => {
      const lines = (rest + text).split("\n");
      rest = (lines.pop() ?? "").slice(0, mostLineCharacters);
      for (const line of lines) this.add(line, isOutput);
    };
    stream?.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    stream?.on("end", () => take(rest === "" ? "" : "\n"));
  }

  get whole(): string {
    const cut = this.lost > 0 ? [`[${this.lost} more lines are not kept]`] : [];
    return [...this.lines, ...cut].join("\n");
  }

  get tail(): string {
    const lines = this.lines.filter((line) => line.trim() !== "").slice(-tail.lines);
    return lines.join("\n").slice(-tail.characters);
  }

  private add(line: string, isOutput: boolean): void {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (isOutput && text.trim() !== "") this.lastOutput = text;
    if (text.trim() !== "") this.onLine(text.slice(0, 200));
    this.bytes += Buffer.byteLength(text) + 1;
    if (this.bytes > mostBytes) this.lost += 1;
    else this.lines.push(text);
  }
}
