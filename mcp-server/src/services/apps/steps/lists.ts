import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { type Action, actionSchema, type Verification, verificationSchema } from "../../../domain/index.ts";
import { schemaProblems } from "../../../domain/schemaProblems.ts";
import { type Body, type Language, type Path, type Report, readStep, type StepProblem } from "./readStep.ts";
import { type Companions, companionKeys } from "./verbs.ts";
import { writeBody } from "./writeStep.ts";

type Reporting = Language & { report: Report };

/** The actions of a step or a list of steps, as an edge and a retry take them; a check among them must hold. */
export function readActions(value: unknown, path: Path, reporting: Reporting): Action[] {
  return bodiesOf(value, path, reporting, companionKeys.actions).flatMap(({ body, where }) => {
    const { type, ...action } = body;
    if (type === "action" || (type === "verification" && !body.negate && body.timeout_ms === undefined))
      return parsed(actionSchema, action, where, reporting);
    const message = "here stand commands, and checks that must hold, without a time limit";
    reporting.report({ path: where, message: `${message}; this is ${nameOf(body)}` });
    return [];
  });
}

export function readChecks(value: unknown, path: Path, reporting: Reporting): Verification[] {
  return bodiesOf(value, path, reporting, companionKeys.checks).flatMap(({ body, where }) => {
    const { type: kind, verification_type: type, ...rest } = body;
    if (kind === "verification")
      return parsed(verificationSchema, { ...rest, ...(type !== undefined && { type }) }, where, reporting);
    reporting.report({ path: where, message: `here stand checks; this is ${nameOf(body)}` });
    return [];
  });
}

/** Actions as steps; undefined where no steps say them. */
export function writeActions(actions: readonly Action[], language: Language): unknown[] | undefined {
  const steps = actions.map((action) => writeBody({ ...action, type: "action" }, language));
  return isSaid(actions, (reporting) => readActions(steps, [], reporting), language) ? steps : undefined;
}

/** Checks as steps; undefined where no steps say them. */
export function writeChecks(checks: readonly Verification[], language: Language): unknown[] | undefined {
  const steps = checks.map(({ type, ...check }) =>
    writeBody(
      { ...check, ...(type !== undefined && { verification_type: type }), type: "verification" },
      language,
    ),
  );
  return isSaid(checks, (reporting) => readChecks(steps, [], reporting), language) ? steps : undefined;
}

function isSaid(
  wanted: readonly unknown[],
  read: (reporting: Reporting) => unknown[],
  language: Language,
): boolean {
  const problems: StepProblem[] = [];
  const back = read({ ...language, report: (problem) => void problems.push(problem) });
  return problems.length === 0 && isDeepStrictEqual(back, wanted);
}

function bodiesOf(
  value: unknown,
  path: Path,
  reporting: Reporting,
  companions: Companions,
): { body: Body; where: Path }[] {
  const list: readonly unknown[] = [value ?? []].flat();
  return list.flatMap((step, index) => {
    const where = Array.isArray(value) ? [...path, index] : path;
    const read = readStep(step, where, { ...reporting, companions });
    if (!read) return [];
    if ("said" in read) return read.groups.flatMap(({ drafts }) => drafts.map((body) => ({ body, where })));
    return [{ body: "block" in read ? read.block : read.loop, where }];
  });
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, path: Path, { report }: Reporting) {
  const found = schema.safeParse(value);
  if (found.success) return [found.data];
  for (const { path: inner, message } of schemaProblems(found.error.issues, schema))
    report({ path: [...path, ...inner], message });
  return [];
}

const nameOf = ({ type, command, negate }: Body) =>
  `a step of type ${type}${typeof command === "string" ? ` (${negate === true ? "not " : ""}${command})` : ""}`;
