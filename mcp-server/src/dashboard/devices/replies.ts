/** What the tools of devices answer, as far as the page shows it. */
export type HostsReply = {
  hosts: {
    name: string;
    status: string;
    devices: { id: string; model: string; state: string; status?: string; discovered?: true }[];
  }[];
};

export type DeviceReply = {
  id: string;
  model: string;
  state: string;
  open: boolean;
  status?: string;
  make?: string;
  version?: string;
  note?: string;
  controllers: string;
  unavailable: { driver: string; kind: string; reason: string }[];
};

/** Who has a device: `free`, `yours` or `held`, and the rest of what the server says of it. */
export function holding(state: string): { word: "free" | "yours" | "held"; holder?: string; until?: string } {
  const [, holder, until] = /^(?:yours|held by (.+)) until (\S+)$/.exec(state) ?? [];
  if (until === undefined) return { word: "free" };
  return holder === undefined ? { word: "yours", until } : { word: "held", holder, until };
}
