import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import {
  type Match,
  matches,
  matchesValue,
  matchSchema,
  matchWords,
  partNote,
  relation,
} from "../../elements/match.ts";
import { quoted } from "../../elements/quoted.ts";
import { inconclusive, missing, ofSubject } from "../../elements/readings.ts";
import { type Target, targetShape } from "../../elements/target.ts";
import { fold } from "../../elements/text.ts";
import { aboutIn, wantedIn } from "../../elements/titles.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { describe } from "../acting/locate.ts";
import type { CheckSession } from "../browser/session.ts";
import type { Description } from "../page/agent/answers.ts";
import { runApart } from "../page/askAgent.ts";
import { absent, foundOne, lookUp, nearestTo, notOne, readOptions } from "./lookup.ts";

const text = z.string().max(10_000);

export function elementPropertyChecks(session: CheckSession): Check[] {
  return [
    textCheck(session),
    valueCheck(session),
    attributeCheck(session),
    nameCheck(session),
    roleCheck(session),
    elementTexts(session),
    ...styleChecks(session),
    ...fieldChecks(session),
  ];
}

function styleChecks(session: CheckSession): Check[] {
  return [
    property(session, {
      name: "element_class",
      description: "The element has all these classes",
      title: (element, { classes }) => `${element} has class ${String(classes)}`,
      wanted: z.strictObject({ ...targetShape, classes: z.string().min(1).max(2_000) }),
      read: (element) => element.getAttribute("class") ?? "",
      expects: ({ classes }) => `has class ${quoted(classes)}`,
      holds: ({ classes }, found) => {
        const own = words(found);
        return words(classes).every((one) => own.includes(one));
      },
    }),
    property(session, {
      name: "element_css",
      description: "A computed style of the element, such as color rgb(255, 0, 0)",
      title: (element, { property, ...input }) =>
        `${element} has ${String(property)} ${wantedIn(input, "value")}`,
      wanted: z.strictObject({
        ...targetShape,
        property: z.string().min(1).max(100),
        value: text,
        match: matchSchema.default("same"),
      }),
      about: ({ property }) => property,
      read: readStyle,
      refusal: ({ property }) =>
        `There is no CSS property ${quoted(property)}. Write it as in a style sheet, such as background-color.`,
      expects: ({ property, value, match }) => `has ${property} that ${relation(match)} ${quoted(value)}`,
      holds: ({ value, match }, found) => matches(match, value, found),
    }),
  ];
}

function fieldChecks(session: CheckSession): Check[] {
  return [
    property(session, {
      name: "element_empty",
      description: "The field holds nothing, or the element shows no text",
      title: (element) => `${element} is empty`,
      wanted: z.strictObject(targetShape),
      read: readContent,
      expects: () => "is empty",
      holds: (_, found) => fold(found) === "",
    }),
    property(session, {
      name: "element_description",
      description: `What describes the element to those who do not see it: aria-describedby, else title; ${matchWords}`,
      title: (element, input) => `${element} is described as ${wantedIn(input, "text")}`,
      wanted: z.strictObject({ ...targetShape, text, match: matchSchema.default("same") }),
      read: readDescription,
      expects: (wanted) => `has a description that ${relation(wanted.match)} ${quoted(wanted.text)}`,
      holds: (wanted, found) => matches(wanted.match, wanted.text, found),
      note: ({ match, text }, found) => partNote(match, text, [found]),
    }),
    property(session, {
      name: "element_error",
      description: `The error that a field reports: aria-errormessage, else the browser's own; without text, that there is one; ${matchWords}`,
      title: (element, input) => `${element} reports an error${aboutIn(input, "text")}`,
      wanted: z.strictObject({
        ...targetShape,
        text: text.optional(),
        match: matchSchema.default("words"),
      }),
      read: readError,
      expects: (wanted) =>
        wanted.text === undefined
          ? "reports an error"
          : `reports an error that ${relation(wanted.match)} ${quoted(wanted.text)}`,
      holds: (wanted, found) =>
        wanted.text === undefined ? found !== "" : matches(wanted.match, wanted.text, found),
      note: ({ match, text = "" }, found) => partNote(match, text, [found]),
    }),
  ];
}

const words = (list: string): string[] => list.split(/\s+/).filter((word) => word !== "");

type Property<Wanted extends z.ZodObject> = {
  name: string;
  description: string;
  title: NonNullable<Check["title"]>;
  wanted: Wanted;
  /** The argument of `read`. */
  about?(wanted: z.output<Wanted>): string;
  /** Runs in the page. Null if `about` names nothing that an element can have. */
  read(element: Element, about: string): string | null;
  /** The message if `read` returns null. */
  refusal?(wanted: z.output<Wanted>): string;
  expects(wanted: z.output<Wanted>): string;
  holds(wanted: z.output<Wanted>, found: string): boolean | Promise<boolean>;
  /** Added to the found text. */
  note?(wanted: z.output<Wanted>, found: string): string;
};

function property<Wanted extends z.ZodObject>(session: CheckSession, spec: Property<Wanted>): Check {
  return defineCheck<Wanted>({
    name: spec.name,
    description: spec.description,
    title: spec.title,
    input: spec.wanted,
    judges: ofSubject,
    async read(wanted, signal) {
      const lookup = await lookUp(session, targetOf(wanted), signal);
      const expected = `${lookup.target} ${spec.expects(wanted)}`;
      const one = foundOne(lookup);
      const found =
        one &&
        (await runApart(
          one,
          z.string().nullable(),
          spec.read,
          spec.about?.(wanted) ?? "",
          readOptions(signal),
        ));
      if (found === undefined) return notOne(session, lookup, expected, signal);
      if (found === null) throw new DeviceError("INVALID_PARAMS", spec.refusal?.(wanted) ?? expected);
      return {
        holds: await spec.holds(wanted, found),
        expected,
        actual: `it is ${quoted(found)}${spec.note?.(wanted, found) ?? ""}`,
      };
    },
  });
}

function targetOf({ ref, selector }: Record<string, unknown>) {
  return {
    ...(typeof ref === "string" && { ref }),
    ...(typeof selector === "string" && { selector }),
  };
}

function nameCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_name",
    description: `The element's accessible name, as a dump shows it; ${matchWords}`,
    input: z.strictObject({ ...targetShape, name: text, match: matchSchema.default("same") }),
    judges: ofSubject,
    title: (element, input) => `${element} is named ${wantedIn(input, "name")}`,
    read: ({ name, match, ...target }, signal) =>
      compare(session, target, { what: "name", wanted: name, match }, (one) => one.name, signal),
  });
}

function roleCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_role",
    description: "The element's role, as a dump shows it",
    input: z.strictObject({ ...targetShape, role: z.string().min(1).max(100) }),
    judges: ofSubject,
    title: (element, { role }) => `${element} has the role ${String(role)}`,
    async read({ role, ...target }, signal) {
      const lookup = await lookUp(session, target, signal);
      const expected = `role of ${lookup.target} is ${role}`;
      if (!lookup.first || lookup.count > 1) return notOne(session, lookup, expected, signal);
      const found = lookup.first.role;
      return { holds: found === role.toLowerCase(), expected, actual: `role is ${quoted(found)}` };
    },
  });
}

function textCheck(session: CheckSession): Check {
  return defineCheck({
    ...portable.element_text,
    read: ({ text, match, ...target }, signal) =>
      compare(session, target, { what: "text", wanted: text, match }, (one) => one.shown || one.name, signal),
  });
}

function valueCheck(session: CheckSession): Check {
  return defineCheck({
    ...portable.element_value,
    read: ({ value, match, ...target }, signal) =>
      compare(session, target, { what: "value", wanted: value, match }, (one) => one.value, signal),
  });
}

function attributeCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_attribute",
    description: `An attribute of the element; without value, that it is there; ${matchWords}`,
    input: z.strictObject({
      ...targetShape,
      attribute: z.string().min(1).max(100),
      value: z.string().max(100_000).optional(),
      match: matchSchema.default("same"),
    }),
    judges: ofSubject,
    title: (element, input) =>
      input.value === undefined
        ? `${element} has the attribute ${String(input.attribute)}`
        : `${element} has ${String(input.attribute)} ${wantedIn(input, "value")}`,
    read: ({ attribute, value, match, ...target }, signal) =>
      compare(
        session,
        target,
        { what: `attribute ${attribute}`, wanted: value, match, attribute },
        (one) => one.attribute,
        signal,
      ),
  });
}

type Comparison = { what: string; wanted: string | undefined; match: Match; attribute?: string };

/** An attribute may hold what a field does. */
const comparisonOf = (what: string) => (/^(value$|attribute )/.test(what) ? matchesValue : matches);

async function compare(
  session: CheckSession,
  target: Target,
  { what, wanted, match, attribute }: Comparison,
  read: (one: Description) => string | undefined,
  signal: AbortSignal,
): Promise<Reading> {
  const lookup = await lookUp(session, target, signal, { whole: true, ...(attribute ? { attribute } : {}) });
  const found = lookup.first && lookup.count < 2 ? read(lookup.first) : undefined;
  const expected =
    wanted === undefined
      ? `${lookup.target} has ${what}`
      : `${what} of ${lookup.target} ${relation(match)} ${quoted(wanted, found)}`;
  if (!lookup.first || lookup.count > 1) return notOne(session, lookup, expected, signal);
  if (what === "value" && found === undefined)
    return inconclusive(expected, `it is ${describe(lookup.first)}, which holds no value`);
  if (found === undefined) return { holds: false, expected, actual: `it has no ${what}` };
  return {
    holds: wanted === undefined || (await comparisonOf(what)(match, wanted, found)),
    expected,
    actual: `${what} is ${quoted(found, wanted)}${partNote(match, wanted ?? "", [found])}`,
  };
}

const MOST_TEXTS = 1_000;

function elementTexts(session: CheckSession): Check {
  return defineCheck({
    name: "element_texts",
    description: `The texts of all that match, in their order; ${matchWords}`,
    input: z.strictObject({
      selector: targetShape.selector.unwrap(),
      texts: z.array(text).max(MOST_TEXTS),
      match: matchSchema.default("same"),
    }),
    // A missing list has no texts.
    judges: ({ texts }) => (texts.length === 0 ? "presence" : "subject"),
    title: (element) => `the texts of ${element}`,
    async read({ selector, texts, match }, signal) {
      const wanted = { whole: true, all: true, limit: MOST_TEXTS + 1 };
      const lookup = await lookUp(session, { selector }, signal, wanted);
      const found = lookup.found.flatMap(({ answer }) => answer.first.map((one) => one.shown || one.name));
      const most = Math.max(texts.length, found.length);
      const isWrong = async (at: number) =>
        texts[at] === undefined || found[at] === undefined || !(await matches(match, texts[at], found[at]));
      let wrong: number | undefined;
      for (let at = 0; at < most && wrong === undefined; at++) if (await isWrong(at)) wrong = at;
      return {
        holds: wrong === undefined,
        expected: `the texts of ${lookup.target} are ${listText(texts, wrong)}`,
        actual: found.length === 0 ? absent(lookup) : `they are ${listText(found, wrong)}`,
        ...missing(found.length === 0),
        ...(found.length > 0 ? {} : await nearestTo(session, lookup, signal)),
      };
    },
  });
}

/** The number of texts, and the text at `place`. */
function listText(list: readonly string[], place: number | undefined): string {
  if (place === undefined) return `${list.length}`;
  const text = list[place];
  return `${list.length}, number ${place + 1} ${text === undefined ? "is not there" : quoted(text)}`;
}

// What follows runs in the page.

/** A property that exists can be inherited; a custom one always exists. */
function readStyle(element: Element, property: string): string | null {
  return CSS.supports(property, "inherit") ? getComputedStyle(element).getPropertyValue(property) : null;
}

function readContent(element: Element): string {
  const field = element instanceof HTMLLabelElement ? (element.control ?? element) : element;
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
    return field instanceof HTMLInputElement && field.type === "password" && field.value !== ""
      ? "••••"
      : field.value;
  return field instanceof HTMLElement ? field.innerText : (field.textContent ?? "");
}

function readDescription(element: Element): string {
  const root = element.getRootNode();
  const ids = (element.getAttribute("aria-describedby") ?? "").split(/\s+/).filter((id) => id !== "");
  const parts =
    root instanceof Document || root instanceof ShadowRoot
      ? ids.map((id) => root.getElementById(id)?.textContent?.trim() ?? "")
      : [];
  const said = parts.filter((part) => part !== "").join(" ");
  return said || element.getAttribute("aria-description") || element.getAttribute("title") || "";
}

function readError(element: Element): string {
  const field = element instanceof HTMLLabelElement ? (element.control ?? element) : element;
  const root = field.getRootNode();
  const id = field.getAttribute("aria-errormessage");
  const isInvalid = !["", "false"].includes(field.getAttribute("aria-invalid") ?? "");
  if (id && isInvalid && (root instanceof Document || root instanceof ShadowRoot)) {
    const said = root.getElementById(id)?.textContent?.trim();
    if (said) return said;
  }
  return "validationMessage" in field && typeof field.validationMessage === "string"
    ? field.validationMessage
    : "";
}
