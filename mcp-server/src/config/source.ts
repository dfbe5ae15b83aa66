import { LineCounter } from "yaml";
import { pathText } from "../domain/schemaProblems.ts";
import {
  type FlatPlaces,
  type ParsedYaml,
  type Place,
  type Problem,
  parseYaml,
  placeOf,
} from "./parseYaml.ts";

export type { Problem } from "./parseYaml.ts";
export type Path = readonly PropertyKey[];

/** A parsed YAML file that knows where each value stands. */
export type Source = {
  value: unknown;
  problems: Problem[];
  /** A problem of the value at `path`, or of the nearest thing above it that exists; `key` points at one of its keys. */
  problem(path: Path, message: string, key?: string): Problem;
};

export const parseSource = (file: string, text: string): Source => sourceOf(parseYaml(file, text));

/** What a file says is quoted short, and without characters that steer a terminal. */
const longestText = 1_000;
const plain = (text: string): string =>
  (text.length > longestText ? `${text.slice(0, longestText)}…` : text).replace(/(?!\n)\p{Cc}/gu, "�");

export function sourceOf({ file, value, problems, places }: ParsedYaml): Source {
  let finder: Finder | undefined;
  return {
    value,
    problems,
    problem(path, message, key) {
      finder ??= new Finder(places);
      return { file, ...finder.find(path, key), path: plain(pathText(path)), message: plain(message) };
    },
  };
}

/** Finds values by their paths. */
class Finder {
  private readonly lines = new LineCounter();
  private readonly keys: readonly string[];
  private readonly known = new Map<number, ReadonlyMap<string, number>>();

  constructor(private readonly places: FlatPlaces) {
    this.keys = JSON.parse(places.keys);
    this.lines.lineStarts = places.lineStarts;
  }

  find(path: Path, key: string | undefined): Place {
    let nearest = 0;
    let isWhole = true;
    for (const part of path) {
      const next = this.below(nearest).get(String(part));
      isWhole = next !== undefined;
      if (next === undefined) break;
      nearest = next;
    }
    const ofKey = key === undefined || !isWhole ? undefined : this.below(nearest).get(key);
    const { numbers } = this.places;
    return placeOf(this.lines, numbers[ofKey === undefined ? nearest * 3 : ofKey * 3 + 1] ?? 0);
  }

  /** The values right below one, by their keys. */
  private below(at: number): ReadonlyMap<string, number> {
    const known = this.known.get(at);
    if (known) return known;
    const { numbers } = this.places;
    const end = numbers[at * 3 + 2] ?? 0;
    const found = new Map<string, number>();
    for (let next = at + 1; next < end; next = numbers[next * 3 + 2] ?? end)
      found.set(this.keys[next] ?? "", next);
    this.known.set(at, found);
    return found;
  }
}
