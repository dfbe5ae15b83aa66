/** One test of a JUnit file. `message` is there when it did not pass. */
export type TestResult = {
  name: string;
  suite: string;
  status: "passed" | "failed" | "skipped";
  duration_ms: number;
  message?: string;
  trace?: string;
};

/** CDATA, a tag, or the text up to the next one. */
const part =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|[^<]+/g;
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const mostTraceCharacters = 20_000;

/** The tests of a JUnit file as Vitest, Playwright Test and pytest write it. Undefined when it is none, or was cut off. */
export function readJunit(xml: string): TestResult[] | undefined {
  const reader = new JunitReader();
  for (const [text, cdata, slash, tag, attributes = "", empty] of xml.matchAll(part)) {
    if (tag === undefined) reader.text(cdata ?? unescaped(text));
    else if (slash === "/") reader.end(tag);
    else {
      reader.start(tag, attributesOf(attributes));
      if (empty === "/") reader.end(tag);
    }
  }
  return reader.last === "testsuites" ? reader.tests.map(trimmed) : undefined;
}

class JunitReader {
  readonly tests: TestResult[] = [];
  /** The element that ended last: of a whole file, its root. */
  last = "";
  private suite = "";
  private test: TestResult | undefined;
  private isTrace = false;

  start(tag: string, { name = "", message, type, ...given }: Record<string, string>): void {
    if (tag === "testsuite") this.suite = name;
    if (tag === "testcase") {
      this.test = testOf({ name, ...given }, this.suite);
      this.tests.push(this.test);
    }
    if (!this.test) return;
    if (tag === "skipped") this.test.status = "skipped";
    this.isTrace = tag === "failure" || tag === "error";
    if (this.isTrace) Object.assign(this.test, { status: "failed", message: message ?? type });
  }

  text(text: string): void {
    if (this.isTrace && this.test) this.test.trace = (this.test.trace ?? "") + text;
  }

  end(tag: string): void {
    this.last = tag;
    this.isTrace = false;
    if (tag === "testcase") this.test = undefined;
  }
}

const testOf = ({ name = "", classname, time }: Record<string, string>, suite: string): TestResult => ({
  name,
  suite: classname || suite,
  status: "passed",
  duration_ms: Math.round((Number(time) || 0) * 1_000),
});

function trimmed({ trace, message, ...test }: TestResult): TestResult {
  const text = trace?.trim().slice(0, mostTraceCharacters);
  const said = message?.trim() || text?.split("\n", 1)[0];
  return { ...test, ...(said && { message: said }), ...(text && { trace: text }) };
}

const attributesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(attribute)].map(([, name, a, b]) => [name, unescaped(a ?? b ?? "")]));

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const unescaped = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
