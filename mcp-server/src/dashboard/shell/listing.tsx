import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { Table } from "../../views/table.tsx";
import { usePolled } from "./polled.ts";
import { addressOf, type RoomName, titleOf } from "./route.ts";

type Listed<Item> = {
  items: readonly Item[];
  /** How many the server left out. */
  more?: number | undefined;
  counts?: Readonly<Record<string, number>>;
};
type Values<Item> = (item: Item) => readonly (string | undefined)[];

type ListingProps<Item> = {
  room: RoomName;
  load(signal: AbortSignal): Promise<Listed<Item>>;
  everyMs: number;
  idOf(item: Item): string;
  /** The text of the link to an item. The search covers it and `words`. */
  nameOf(item: Item): string;
  words?: Values<Item>;
  /** Filters by their labels, with the values that an item has. */
  choices: Readonly<Record<string, Values<Item>>>;
  /** Columns after the first, by their titles. */
  columns: Readonly<Record<string, (item: Item) => ComponentChildren>>;
  empty: ComponentChildren;
};

/** So many rows are drawn at first, and more on request. */
const pageRows = 200;

/** All items of a room in the order of `load`, with counts, a search and filters. Each links to its own view. */
export function Listing<Item>(props: ListingProps<Item>) {
  const { room, load, everyMs, empty } = props;
  const list = usePolled(room, load, everyMs);
  return (
    <>
      <h1>{titleOf(room)}</h1>
      <Shown of={list} what={room}>
        {(listed) => (listed.items.length === 0 ? <Empty>{empty}</Empty> : <Found {...props} {...listed} />)}
      </Shown>
    </>
  );
}

function Found<Item>({ items, more = 0, counts = {}, ...props }: ListingProps<Item> & Listed<Item>) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [limit, setLimit] = useState(pageRows);
  const { choices, columns, room, idOf, nameOf } = props;
  const found = items.filter((item) => {
    const searched = [nameOf(item), ...(props.words?.(item) ?? [])].join(" ").toLowerCase();
    const hasChosen = ([label, value]: [string, string]) =>
      value === "" || choices[label]?.(item).includes(value);
    return (
      text
        .toLowerCase()
        .split(/\s+/)
        .every((word) => searched.includes(word)) && Object.entries(chosen).every(hasChosen)
    );
  });
  return (
    <>
      <Counts of={counts} />
      <fieldset class="filter">
        <legend class="soft small">Filter</legend>
        <label>
          Search
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {Object.entries(choices).map(([label, of]) => {
          const options = textsOf(items.flatMap(of));
          const choose = (value: string) => setChosen({ ...chosen, [label]: value });
          if (options.length === 0) return null;
          return (
            <Choice key={label} label={label} value={chosen[label] ?? ""} options={options} choose={choose} />
          );
        })}
      </fieldset>
      <p class="soft small" role="status">
        {found.length} of {items.length}
        {more > 0 && `; ${more} more are not loaded`}
      </p>
      {found.length === 0 && <Empty>Nothing matches. Clear the filter to see all.</Empty>}
      <Table
        titles={["Name", ...Object.keys(columns)]}
        rows={found
          .slice(0, limit)
          .map((item) => [
            <a href={addressOf({ room, id: idOf(item) })}>{nameOf(item)}</a>,
            ...Object.values(columns).map((cell) => cell(item)),
          ])}
      />
      {found.length > limit && (
        <button type="button" onClick={() => setLimit(limit + pageRows)}>
          Show more ({found.length - limit})
        </button>
      )}
    </>
  );
}

export const Counts = ({ of: counts }: { of: Readonly<Record<string, number>> }) => (
  <p class="row" aria-live="polite" hidden={Object.keys(counts).length === 0}>
    {Object.entries(counts).map(([status, count]) => (
      <span key={status}>
        <Badge status={status} /> {count}
      </span>
    ))}
  </p>
);

/** Each text once, in order. */
export const textsOf = (values: readonly (string | undefined)[]): string[] =>
  [...new Set(values.flatMap((value) => value || []))].sort();

export const Choice = (given: {
  label: string;
  value: string;
  options: readonly string[];
  /** The text of no choice. */
  none?: string;
  choose(value: string): void;
}) => (
  <label>
    {given.label}
    <select value={given.value} onChange={(event) => given.choose(event.currentTarget.value)}>
      <option value="">{given.none ?? "any"}</option>
      {given.options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  </label>
);
