export const rooms = [
  "devices",
  "apps",
  "tests",
  "runs",
  "schedules",
  "alerts",
  "requirements",
  "agents",
] as const;
export type RoomName = (typeof rooms)[number];

export const titleOf = (room: RoomName): string => room.charAt(0).toUpperCase() + room.slice(1);

/** Where the page is: a room, one thing in it, and a step of that (counted from 1). */
export type Route = { room: RoomName; id?: string; step?: number };

/** What an address's fragment says, such as `#/runs/<id>/<step>`. Anything else is the room of devices. */
export function readRoute(hash: string): Route {
  const [name = "", id = "", step = ""] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  const room = rooms.find((known) => known === name) ?? "devices";
  return { room, ...(id !== "" && { id }), ...(/^[1-9]\d*$/.test(step) && { step: Number(step) }) };
}

export const addressOf = ({ room, id, step }: Route): string =>
  `#/${[room, ...(id === undefined ? [] : [id]), ...(step === undefined ? [] : [step])].map(encodeURIComponent).join("/")}`;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
