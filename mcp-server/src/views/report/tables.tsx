import { Badge } from "../states.tsx";
import { Table } from "../table.tsx";
import type { Report, ReportTest } from "./model.ts";

const TableCard = ({ title, ...table }: { title: string } & Omit<Parameters<typeof Table>[0], "kind">) => (
  <section class="card">
    <h2>{title}</h2>
    <Table {...table} kind="matrix" />
  </section>
);

/** How each test ended under each name of a matrix. Nothing where there is none. */
export function Matrix({ tests, skipped }: Pick<Report, "tests" | "skipped">) {
  const groups = [...new Set([...tests, ...skipped].flatMap(({ group }) => group ?? []))];
  if (groups.length === 0) return null;
  const words = new Map<string, Map<string, string[]>>();
  const add = (name: string, group: string | undefined, word: string) => {
    const row = words.get(name) ?? new Map<string, string[]>();
    words.set(name, row);
    if (group !== undefined) row.set(group, [...(row.get(group) ?? []), word]);
  };
  for (const { name, group, word } of tests) add(name, group, word);
  for (const { name, group } of skipped) add(name, group, "not run");
  return (
    <TableCard
      title="Matrix"
      titles={["Test case", ...groups]}
      rows={[...words].map(([name, row]) => [
        name,
        ...groups.map((group) => (row.get(group) ?? []).map((word) => [<Badge status={word} />, " "])),
      ])}
    />
  );
}

const inOrder = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Which run checked which requirement, by requirement. Nothing where no run did. */
export function Requirements({ tests }: { tests: readonly ReportTest[] }) {
  const rows = tests.flatMap(({ requirements, ...test }) =>
    requirements.map((requirement) => ({ requirement, test })),
  );
  if (rows.length === 0) return null;
  return (
    <TableCard
      title="Requirements"
      titles={["Requirement", "Test case", "Coverage", "Result", "Execution"]}
      rows={rows
        .toSorted((a, b) => inOrder(a.requirement.code, b.requirement.code))
        .map(({ requirement: { code, name, coverage }, test }) => [
          <>
            <b>{code}</b> {name}
          </>,
          ...[test.name, coverage, <Badge status={test.status} />, test.id],
        ])}
    />
  );
}
