import snmp from "net-snmp";

/**
 * A session with one host. `options`: `{host, port, timeoutMs, version: "1" | "2c", community}` or
 * `{..., version: "3", user, authKey?, privKey?}` (SHA and AES). `get` gives an integer, `set` sets one.
 */
export function openSnmp({ host, port, timeoutMs, ...login }) {
  const options = { port, timeout: timeoutMs, retries: 1, transport: host.includes(":") ? "udp6" : "udp4" };
  const session =
    login.version === "3" ? withUser(host, login, options) : withCommunity(host, login, options);
  // Without a listener, an error of the socket would end the process. A request that it breaks times out.
  session.on("error", () => undefined);
  return {
    get: (oid) => asked((done) => session.get([oid], done)),
    set: (oid, value) => asked((done) => session.set([{ oid, type: snmp.ObjectType.Integer, value }], done)),
    close: () => session.close(),
  };
}

function withCommunity(host, { version, community }, options) {
  const byName = { 1: snmp.Version1, "2c": snmp.Version2c };
  return snmp.createSession(host, community, { ...options, version: byName[version] });
}

function withUser(host, { user, authKey, privKey }, options) {
  const { noAuthNoPriv, authNoPriv, authPriv } = snmp.SecurityLevel;
  const level = authKey === undefined ? noAuthNoPriv : privKey === undefined ? authNoPriv : authPriv;
  const auth = authKey !== undefined && { authProtocol: snmp.AuthProtocols.sha, authKey };
  const priv = privKey !== undefined && { privProtocol: snmp.PrivProtocols.aes, privKey };
  return snmp.createV3Session(host, { name: user, level, ...auth, ...priv }, options);
}

/** The value of the first variable. Rejects with net-snmp's error, or the one in place of a value. */
function asked(ask) {
  return new Promise((resolve, reject) => {
    ask((error, [variable] = []) => {
      if (error) reject(error);
      else if (snmp.isVarbindError(variable)) reject(new Error(snmp.varbindError(variable)));
      else resolve(variable.value);
    });
  });
}
