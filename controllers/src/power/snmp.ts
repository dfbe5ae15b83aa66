import { lookup } from "node:dns/promises";
import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import { powerFactory } from "./controller.ts";
import { textSchema as text } from "./http.ts";
import { type Maker, type MakerName, makers } from "./makers.ts";

const addon = "power";
const answerMs = 1_500;

type Session = {
  get(oid: string): Promise<unknown>;
  set(oid: string, value: number): Promise<unknown>;
  close(): void;
};
const isFunction = (value: unknown): boolean => typeof value === "function";
const door = z.object({ openSnmp: z.custom<(options: object) => Session>(isFunction) });

const settings = z.strictObject({
  host: text,
  port: z.int().min(1).max(65_535).default(161),
  maker: z.enum(Object.keys(makers) as [MakerName, ...MakerName[]]),
  unit: z.int().min(1).max(64).default(1).describe("Of strips in a chain."),
  outlet: z.int().min(1).max(128),
  version: z.enum(["1", "2c", "3"]).default("2c"),
  community: text.default("private").describe("Of versions 1 and 2c. Better as {{secret.NAME}}."),
  user: text.optional().describe("Of version 3."),
  auth_key: text.min(8).optional().describe("Of version 3, by SHA. Better as {{secret.NAME}}."),
  priv_key: text.min(8).optional().describe("Of version 3, by AES. Better as {{secret.NAME}}."),
});

export const snmpFactory = powerFactory({
  name: "snmp",
  settings: settings.refine(({ version, user }) => version !== "3" || user !== undefined, {
    message: "version 3 needs a user",
    path: ["user"],
  }),
  claim: ({ host, port, unit, outlet }) => `${host}:${port}/${unit}.${outlet}`,
  make({ host, port, maker, unit, outlet, ...login }, { allowHost, allowAddress, addons }) {
    const { set, read, isOn, isOff, ...values }: Maker = makers[maker];
    const at = (oid: string) => oid.replace("u", `${unit}`).replace("n", `${outlet}`);
    const name = `outlet ${outlet} of ${host}:${port}`;
    let session: Promise<Session> | undefined;
    const open = async () => {
      const { openSnmp } = door.parse(await addons.load(addon));
      const { version, community, user, auth_key: authKey, priv_key: privKey } = login;
      const { address } = await lookup(host).catch((error: unknown) => {
        throw failed(name, error);
      });
      allowAddress(address);
      return openSnmp({
        host: address,
        port,
        timeoutMs: answerMs,
        version,
        community,
        user,
        authKey,
        privKey,
      });
    };
    const use = async <T>(work: (opened: Session) => Promise<T>, signal: AbortSignal): Promise<T> => {
      allowHost(host, port);
      session ??= open();
      session.catch(() => {
        session = undefined;
      });
      const opened = await session;
      return untilAborted(work(opened), signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw failed(name, error);
      });
    };
    return {
      name,
      async read(signal) {
        const value = await use((opened) => opened.get(at(read)), signal);
        if (value === isOn || value === isOff) return value === isOn ? "on" : "off";
        throw failed(name, new Error(`the state ${String(value)} is unknown`));
      },
      turn: async (to, signal) => void (await use((opened) => opened.set(at(set), values[to]), signal)),
      close() {
        session?.then((opened) => opened.close()).catch(() => undefined);
        session = undefined;
      },
    };
  },
  lacks(_settings, { addons }) {
    const state = addons.state(addon);
    const what = `add-on ${addon}`;
    if (state === "installed") return [{ what, status: "ok", detail: state }];
    const detail = state === "missing" ? "not installed" : "of another build";
    return [{ what, status: "missing", detail, fix: "Run: labwright setup power" }];
  },
});

function failed(name: string, error: unknown): DeviceError {
  const message = error instanceof Error ? error.message : String(error);
  const isSilent = error instanceof Error && error.name === "RequestTimedOutError";
  const hint = isSilent
    ? "A strip also stays silent where the community or user is wrong."
    : "Check the maker, the outlet's number, and that the user may write.";
  const cause = { cause: error };
  return new DeviceError(
    isSilent ? "DEVICE_OFFLINE" : "DEVICE_ERROR",
    `${name}: ${message}. ${hint}`,
    {},
    cause,
  );
}
