import type { ComponentChildren } from "preact";

/** The first cell of a row names it. `kind`: a further class. */
type TableProps = {
  titles: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  kind?: string;
};

export const Table = ({ titles, rows, kind = "" }: TableProps) =>
  rows.length === 0 ? null : (
    <table class={`runs ${kind}`}>
      <thead>
        <tr>
          {titles.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...cells]) => (
          <tr>
            <th scope="row">{first}</th>
            {cells.map((cell) => (
              <td>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
