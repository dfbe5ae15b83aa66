import type { ComponentChildren } from "preact";
import { Badge } from "../states.tsx";
import type { Report, ReportTest } from "./model.ts";

const Table = (given: { title: string; heads: readonly string[]; children: ComponentChildren }) => (
  <section class="card">
    <h2>{given.title}</h2>
    <table class="runs matrix">
      <thead>
        <tr>
          {given.heads.map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>{given.children}</tbody>
    </table>
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
    <Table title="Matrix" heads={["Test case", ...groups]}>
      {[...words].map(([name, row]) => (
        <tr>
          <th scope="row">{name}</th>
          {groups.map((group) => (
            <td>
              {(row.get(group) ?? []).map((word) => (
                <>
                  <Badge status={word} />{" "}
                </>
              ))}
            </td>
          ))}
        </tr>
      ))}
    </Table>
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
    <Table title="Requirements" heads={["Requirement", "Test case", "Coverage", "Result", "Execution"]}>
      {rows
        .toSorted((a, b) => inOrder(a.requirement.code, b.requirement.code))
        .map(({ requirement: { code, name, coverage }, test }) => (
          <tr>
            <th scope="row">
              <b>{code}</b> {name}
            </th>
            <td>{test.name}</td>
            <td>{coverage}</td>
            <td>
              <Badge status={test.status} />
            </td>
            <td>{test.id}</td>
          </tr>
        ))}
    </Table>
  );
}
