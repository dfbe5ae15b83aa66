/** Where a maker's MIB has the outlet n (of the unit u): what is set, what is read, and the values of each. */
export type Maker = {
  set: string;
  on: number;
  off: number;
  read: string;
  isOn: number;
  isOff: number;
};

/** `u` is the number of the unit in a chain, `n` that of the outlet. */
export const makers = {
  /** PowerNet-MIB: rPDUOutletControlOutletCommand, rPDUOutletStatusOutletState. */
  apc: {
    ...{ set: "1.3.6.1.4.1.318.1.1.12.3.3.1.1.4.n", on: 1, off: 2 },
    ...{ read: "1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.n", isOn: 1, isOff: 2 },
  },
  /** PDU2-MIB: switchingOperation, outletSwitchingState. */
  raritan: {
    ...{ set: "1.3.6.1.4.1.13742.6.4.1.2.1.2.u.n", on: 1, off: 0 },
    ...{ read: "1.3.6.1.4.1.13742.6.4.1.2.1.3.u.n", isOn: 7, isOff: 8 },
  },
  /** CPS-MIB: ePDUOutletControlOutletCommand, ePDUOutletStatusOutletState. */
  cyberpower: {
    ...{ set: "1.3.6.1.4.1.3808.1.1.3.3.3.1.1.4.n", on: 1, off: 2 },
    ...{ read: "1.3.6.1.4.1.3808.1.1.3.3.5.1.1.4.n", isOn: 1, isOff: 2 },
  },
} as const satisfies Record<string, Maker>;

export type MakerName = keyof typeof makers;
