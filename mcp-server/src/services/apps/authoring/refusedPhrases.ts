import { type Phrase, phrase } from "./phrase.ts";
import type { Parts } from "./types.ts";

const refused = (text: string, reason: string, ...nearest: string[]): Phrase =>
  phrase("", text, (part: Parts) => ({
    ...{ reason, isFinal: true },
    nearest: nearest.map((form) => form.replace("NAME", part("name") || "NAME")),
  }));

const opposite: Readonly<Record<string, string>> = { left: "right", right: "left", up: "down", down: "up" };

/** Sentences that could mean several things or nothing. They are refused with what to write instead, and have no form. */
export const refusedPhrases: readonly Phrase[] = [
  refused(
    "(?:close|expand|collapse|dismiss|accept|confirm|open|submit) {name}(?: dialog| banner| popup| section| form)?",
    "say what is clicked",
    'click "NAME"',
  ),
  refused("focus(?: on)? {name}", "say how it gets the focus", 'click "NAME"', "press TAB"),
  refused(
    "(?:do not|never|avoid) .+",
    "a step says what is done; what must not be is checked",
    'check "X" is not shown',
  ),
  refused(
    "(?:if|unless|when) .+|.+ if (?:it is |it's )?(?:visible|shown|present|there|possible)|(?:try to|maybe|optionally) .+",
    "words have no conditions: a test does the same each time",
    'wait for "X"',
  ),
  phrase("", "swipe(?: to)?(?: the)? (?<way>left|right|up|down)(?: (?:on|in|over) {name})?", (part) => {
    const way = opposite[part("way").toLowerCase()] ?? "down";
    const where = part("name") === "" ? "" : ` in "${part("name")}"`;
    return { reason: "say what comes into view", nearest: [`scroll ${way}${where}`] };
  }),
  refused(
    "wait(?: for| until)?(?: the)?(?: page| screen| app)?(?: to| is| has| finishes)? ?(?:be )?(?:load(?:s|ed|ing)?|ready|finished|network ?idle)?|wait a (?:second|moment|while|bit)",
    "steps wait for the page by themselves; say what is waited for",
    'wait for text "T"',
    "wait 3 seconds",
  ),
  refused(
    "(?:(?:take|make|capture|save)(?: an?)? )?(?:screenshot|picture)(?: of .+)?",
    "a report has the picture of a failed step by itself",
    'check text "T"',
  ),
  refused(
    "(?:check |verify )?(?:that )?(?:there (?:are|is|should be) )?(?:exactly )?\\d+ [^\\s\\d]+|.*{name} has (?:exactly )?\\d+ [^\\s\\d]+",
    "say in quotes what is counted",
    'check there are 3 "css=.row"',
  ),
  refused(
    "(?:check |verify )?(?:that )?(?:the )?(?:row|cell|column) .+",
    "a cell is named by its table, row and column",
    'check the cell "COLUMN" of row "ROW" in "X" is "T"',
  ),
  refused(
    "(?:(?:check|verify) )?(?:that )?(?:wait for )?(?:the )?(?:url|address)(?: (?:to be|ends with|starts with|matches|is like))? (?<name>\\S+)",
    "say what the address has",
    'check the url has "NAME"',
    'wait until the url has "NAME"',
  ),
  phrase("", "(?:type|enter|fill|input|write) [^\\u0001]+ (?:in|into|with) .+", () => ({
    ...{ reason: "texts and names stand in quotes", isAboutQuotes: true },
    nearest: ['type "T" into "X"', 'fill "X" with "T"'],
  })),
  refused(
    "download .+",
    "say what is clicked, then what arrives",
    'click "X"',
    'check "FILE" was downloaded',
  ),
  refused(
    "(?:log|sign)[ -]?in (?:as|with) .+",
    "a test that logs in is called by its name",
    "call test NAME",
  ),
  refused("(?:restart|relaunch) (?:the|this) app", "these are two steps", "close the app", "open the app"),
  refused(
    "(?:cancel|ok|accept(?: all)? cookies|confirm|save|next|continue)",
    "say what is clicked",
    'click "X"',
  ),
  refused("submit(?: the)?(?: form)?", "say what sends the form", 'click "X"', 'press ENTER in "X"'),
  refused(
    "(?:check|verify|there (?:are|is)|.+) .*(?:more|greater|less|fewer|larger|smaller) than .+",
    "limits are included",
    'check there are at least 3 "X"',
    'check "X" is at least 3',
    'check "X" is at most 3',
  ),
];
