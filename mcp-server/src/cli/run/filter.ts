import { nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";

export type Filter = {
  /** A test case has one of them. */
  tags?: readonly string[] | undefined;
  /** Text that the name has in it, or `/expression/flags`. */
  grep?: string | undefined;
  shard?: Shard | undefined;
  /** Only tests that did not pass when they last ran from the working folder. */
  lastFailed?: boolean | undefined;
};
/** `index` counts from 1. */
export type Shard = { index: number; total: number };

type Listed = { name: string; tags: readonly string[] };

/**
 * The tests that the filter leaves, in their order; `hasFailed` says which failed before. Throws INVALID_INPUT when it leaves
 * none, with what there is.
 */
export function filtered<Test extends Listed>(
  tests: readonly Test[],
  filter: Filter,
  hasFailed: (test: Test) => boolean,
): Test[] {
  const { tags = [], grep, shard } = filter;
  const tagged = withTags(tests, tags);
  const named = grep === undefined ? tagged : matching(tagged, grep);
  const failed = filter.lastFailed ? named.filter(hasFailed) : named;
  if (failed.length === 0)
    throw nothing("None of these tests failed the last time.", "Leave --last-failed out to run them all.");
  return shard === undefined ? failed : inShard(failed, shard);
}

function withTags<Test extends Listed>(tests: readonly Test[], tags: readonly string[]): Test[] {
  const known = [...new Set(tests.flatMap((test) => test.tags))].sort();
  for (const tag of tags) {
    if (known.includes(tag)) continue;
    const [near] = nearest(tag, known, 1);
    const meant = near === undefined ? "" : `Did you mean ${near}? `;
    const all = known.length > 0 ? `The tags are ${known.join(", ")}.` : "None of the test cases has a tag.";
    throw nothing(`No test case has the tag "${tag}".`, `${meant}${all}`);
  }
  return tests.filter((test) => tags.length === 0 || test.tags.some((tag) => tags.includes(tag)));
}

function matching<Test extends Listed>(tests: readonly Test[], grep: string): Test[] {
  const isMatch = matcherOf(grep);
  const found = tests.filter(({ name }) => isMatch(name));
  if (found.length > 0) return found;
  const names = tests.map(({ name }) => name);
  const near = nearest(grep, names, 3).map((name) => `"${name}"`);
  throw nothing(
    `None of ${names.length} test cases has a name that matches ${grep}.`,
    near.length > 0 ? `The nearest: ${near.join(", ")}.` : "labwright list tests shows all names.",
  );
}

/** Text is found in any case. */
function matcherOf(grep: string): (name: string) => boolean {
  const [, source, flags = ""] = /^\/(.+)\/([a-z]*)$/s.exec(grep) ?? [];
  if (source === undefined) return (name) => name.toLowerCase().includes(grep.toLowerCase());
  try {
    // `g` and `y` would make one answer depend on the one before.
    const expression = new RegExp(source, flags.replace(/[gy]/g, ""));
    return (name) => expression.test(name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw nothing(`--grep ${grep}: ${why}.`, "Give text, or an expression between slashes.");
  }
}

/** The same for whoever runs the same tests; every test is in one of the shards. A test given twice stays together. */
function inShard<Test extends Listed>(tests: readonly Test[], { index, total }: Shard): Test[] {
  const names = [...new Set(tests.map(({ name }) => name))].sort();
  const own = new Set(names.filter((_, at) => at % total === index - 1));
  if (own.size > 0) return tests.filter(({ name }) => own.has(name));
  const [count, most] = [`${names.length} test cases`, `--shard 1/${names.length}`];
  throw nothing(`Shard ${index}/${total} of ${count} is empty.`, `Use at most ${most}.`);
}

const nothing = (message: string, hint: string) => new ToolError("INVALID_INPUT", message, hint);
