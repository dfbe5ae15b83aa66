import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Nothing but JSON-RPC on loopback listens: the web server, which would listen on all interfaces, is off as is all discovery. */
const settings = {
  "services.webserver": false,
  "services.zeroconf": false,
  "services.wsdiscovery": false,
  "services.upnp": false,
  "services.upnpserver": false,
  "services.airplay": false,
  // JSON-RPC needs it.
  "services.esenabled": true,
  "services.esallinterfaces": false,
  "screensaver.mode": "",
  "powermanagement.displaysoff": 0,
  "powermanagement.shutdowntime": 0,
  "general.addonupdates": 2,
  "general.addonnotifications": false,
  "lookandfeel.enablerssfeeds": false,
  "audiooutput.guisoundmode": 0,
  // Played as they are, and channels in the whole picture at once.
  "pvrplayback.switchtofullscreenchanneltypes": 3,
};

export type ProfileSpec = { tcpPort: number; eventPort: number; media: string; playlist: string };

/** Writes what Kodi reads at its first start into the folder that is its home. */
export async function writeProfile(home: string, spec: ProfileSpec): Promise<void> {
  const { tcpPort, eventPort, media, playlist } = spec;
  const userdata = join(home, ".kodi/userdata");
  const iptv = join(userdata, "addon_data/pvr.iptvsimple");
  await mkdir(iptv, { recursive: true });
  const write = (name: string, xml: string) => writeFile(join(userdata, name), xml);
  await write("guisettings.xml", settingsXml({ ...settings, "services.esport": eventPort }));
  await write(
    "advancedsettings.xml",
    `<advancedsettings><jsonrpc><tcpport>${tcpPort}</tcpport></jsonrpc></advancedsettings>`,
  );
  await write(
    "sources.xml",
    `<sources><video><default pathversion="1"></default><source><name>Clips</name><path pathversion="1">${media}/</path></source></video></sources>`,
  );
  await writeFile(join(iptv, "settings.xml"), settingsXml({ m3uPathType: 0, m3uPath: playlist }));
}

function settingsXml(values: Readonly<Record<string, boolean | number | string>>): string {
  const lines = Object.entries(values).map(([id, value]) => `  <setting id="${id}">${value}</setting>`);
  return `<settings version="2">\n${lines.join("\n")}\n</settings>\n`;
}
