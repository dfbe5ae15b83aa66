// `npm run words [PATH…]`: words that this project does not use, in code (but not that of tests), messages and docs, with
// the plainer ones.
// Ends with 1 when one is found.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Parts of names count too: `toldError`, `liveTeller`. */
const dropped = [
  [
    /\b((un)?[Tt]old|[Tt]ell(s|ing|er))(?![a-z]| the truth)|\btell[A-Z(]|[a-z](Told|Tell|Tells|Teller|Telling)(?![a-z])/,
    "return, report, say, list, send",
  ],
  [/\bbeside\b/i, "next to, with, besides"],
  [/\b(nobody|somebody|anybody)\b/i, "no one is needed: say what the code does; people are no one, someone"],
  [
    /\b(is|are|was|were)(?<!there \w+) no (?!longer|more|better|worse|less|different|fewer|other|later|earlier|larger|smaller|such)[a-z]/i,
    "is not a",
  ],
  [/\bleavings\b|\bwitness(es)?\b/i, "the field's word"],
  [
    /\bhands?\b(?<!\b(by|other|second|right|left|one) hands?)(?<!-hands?)(?! (over|out|in)\b)/i,
    "touch, keys, input; passes on",
  ],
  [/\b[Ss]eats?\b|[a-z]Seats?(?![a-z])/, "worker, window, slot"],
  [/\b[Tt]rips?\b(?<!round trips?)|[a-z]Trips?(?![a-z])/, "call, request, walk"],
  [
    /\b(a|an|the|one|each|every|next|last|first|latest|this|two|single|earlier|many|several|new|same) looks?\b|\b(const|let|readonly|type|function) looks?\b/i,
    "snapshot",
  ],
  [/\bmeant\b/i, "wanted, intended; a target"],
  [/\blent\b/i, "borrowed, leased"],
];
const skipped =
  /(^|\/)(package-lock\.json|CHANGELOG\.md|LICENSE|words\.mjs)$|\.(svg|png|jpg|snap|json)$|^test\/(.*\.(ts|yaml)|widgets\/pages\/.*)$/;

const paths = process.argv.slice(2);
const files = execFileSync("git", ["ls-files", "--", ...paths], { encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(ts|js|mjs|md|yaml)$/.test(file) && !skipped.test(file));
const found = files.flatMap((file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) =>
      dropped
        .filter(([pattern]) => pattern.test(line))
        .map(([pattern, instead]) => `${file}:${index + 1}: "${pattern.exec(line)[0]}" (${instead})`),
    ),
);
for (const line of found) process.stdout.write(`${line}\n`);
process.stdout.write(`${found.length} dropped words in ${files.length} files\n`);
process.exitCode = found.length === 0 ? 0 : 1;
