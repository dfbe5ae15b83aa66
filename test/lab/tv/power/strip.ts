import { createSocket } from "node:dgram";
import { once } from "node:events";
import snmp from "net-snmp";

/**
 * By the makers' MIBs: the entry and column of what is set and of what is read, where the row has the outlet's number (and that
 * of the unit), and what is read after each value that is set.
 */
const mibs = {
  apc: {
    set: ["1.3.6.1.4.1.318.1.1.12.3.3.1.1", 4],
    read: ["1.3.6.1.4.1.318.1.1.12.3.5.1.1", 4],
    row: [3],
    states: { 1: 1, 2: 2 },
  },
  cyberpower: {
    set: ["1.3.6.1.4.1.3808.1.1.3.3.3.1.1", 4],
    read: ["1.3.6.1.4.1.3808.1.1.3.3.5.1.1", 4],
    row: [3],
    states: { 1: 1, 2: 2 },
  },
  raritan: {
    set: ["1.3.6.1.4.1.13742.6.4.1.2.1", 2],
    read: ["1.3.6.1.4.1.13742.6.4.1.2.1", 3],
    row: [1, 3],
    states: { 1: 7, 0: 8 },
  },
} as const;
export type StripMaker = keyof typeof mibs;
export const stripMakers = Object.keys(mibs) as StripMaker[];

/** A power strip whose outlet 3 of unit 1 is on: net-snmp's agent with the maker's tables. */
export async function startStrip(maker: StripMaker, community: string) {
  const port = await freePort();
  const { set, read, row, states } = mibs[maker];
  const follow = () => {
    const asked = Number(mib.getTableSingleCell(set[0], set[1], [...row]));
    const state = Object.entries(states).find(([value]) => Number(value) === asked)?.[1];
    if (state !== undefined) mib.setTableSingleCell(read[0], read[1], [...row], state);
  };
  const agent = snmp.createAgent({ port, address: "127.0.0.1" }, follow);
  agent.getAuthorizer().addCommunity(community);
  const mib = agent.getMib();
  for (const entry of new Set([set[0], read[0]])) {
    const indexes = row.map((_, at) => at + 100);
    const columns = [set, read].filter(([of]) => of === entry).map(([, column]) => column);
    mib.registerProvider({
      name: entry,
      oid: entry,
      type: snmp.MibProviderType.Table,
      maxAccess: 0,
      tableColumns: [...columns, ...indexes].map((number) => ({
        number,
        name: `c${number}`,
        type: snmp.ObjectType.Integer,
        // read-write
        maxAccess: 3,
      })),
      tableIndex: indexes.map((number) => ({ columnName: `c${number}` })),
    } as Parameters<typeof mib.registerProvider>[0]);
    mib.addTableRow(entry, [
      ...columns.map((column) => (column === read[1] && entry === read[0] ? states[1] : 1)),
      ...row,
    ]);
  }
  return { port, asked: () => mib.getTableSingleCell(set[0], set[1], [...row]), close: () => agent.close() };
}

async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  await once(socket.bind(0, "127.0.0.1"), "listening");
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}
