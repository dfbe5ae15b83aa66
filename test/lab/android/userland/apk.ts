import { inflateRawSync } from "node:zlib";
import { readXml, type XmlElement } from "./binaryXml.ts";
import type { ApkFacts } from "./packages.ts";

/** Signatures and sizes of a zip's records (PKWARE, APPNOTE.TXT). */
const endOfDirectory = { signature: 0x06054b50, bytes: 22 };
const directoryEntry = { signature: 0x02014b50, bytes: 46 };
const localHeaderBytes = 30;
const deflated = 8;

/** Reads what an APK says of itself in its AndroidManifest.xml; undefined where it is not an APK. */
export function readApk(bytes: Uint8Array): ApkFacts | undefined {
  try {
    const manifest = readZipEntry(Buffer.from(bytes), "AndroidManifest.xml");
    return manifest && factsOf(readXml(manifest));
  } catch (error) {
    if (error instanceof RangeError || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  }
}

function factsOf(elements: readonly XmlElement[]): ApkFacts | undefined {
  const attributeOf = (element: XmlElement | undefined, name: string) => element?.attributes.get(name);
  const first = (name: string) => elements.find((element) => element.name === name);
  const manifest = first("manifest");
  const packageName = attributeOf(manifest, "package");
  if (packageName === undefined) return undefined;
  const instrumentation = first("instrumentation");
  return {
    packageName,
    versionCode: Number(attributeOf(manifest, "versionCode") ?? 0),
    versionName: attributeOf(manifest, "versionName") ?? "",
    label: attributeOf(first("application"), "label") ?? packageName,
    permissions: elements
      .filter(({ name }) => name === "uses-permission")
      .flatMap((element) => attributeOf(element, "name") ?? []),
    launcher: launcherOf(elements, packageName),
    instrumentation: instrumentation && {
      runner: attributeOf(instrumentation, "name") ?? "",
      target: attributeOf(instrumentation, "targetPackage") ?? "",
    },
  };
}

/** The activity before the category that launchers look for; its package is left out. */
function launcherOf(elements: readonly XmlElement[], packageName: string): string | undefined {
  const names = elements.map(({ name, attributes }) => `${name} ${attributes.get("name")}`);
  const category = names.findIndex((name) => /^category .*\.category\.(?:LEANBACK_)?LAUNCHER$/.test(name));
  const activity = names.slice(0, category + 1).findLast((name) => /^activity(?:-alias)? /.test(name));
  const name = activity?.replace(/^\S+ /, "");
  return name?.startsWith(`${packageName}.`) === true ? name.slice(packageName.length) : name;
}

/** The bytes of a file in a zip; undefined if it is missing or the bytes are not a zip. */
function readZipEntry(zip: Buffer, wanted: string): Buffer | undefined {
  let end = zip.length - endOfDirectory.bytes;
  while (end >= 0 && zip.readUInt32LE(end) !== endOfDirectory.signature) end -= 1;
  if (end < 0) return undefined;
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== directoryEntry.signature) return undefined;
    const nameEnd = at + directoryEntry.bytes + zip.readUInt16LE(at + 28);
    if (zip.toString("utf8", at + directoryEntry.bytes, nameEnd) === wanted) return unpack(zip, at);
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return undefined;
}

function unpack(zip: Buffer, entry: number): Buffer {
  const header = zip.readUInt32LE(entry + 42);
  const from = header + localHeaderBytes + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  const packed = zip.subarray(from, from + zip.readUInt32LE(entry + 20));
  return zip.readUInt16LE(entry + 10) === deflated ? inflateRawSync(packed) : packed;
}
