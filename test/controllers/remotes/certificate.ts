import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A TV's own, which no authority has signed. */
export function certificate(name: string) {
  const folder = mkdtempSync(join(tmpdir(), "labwright-tv-"));
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-days", "2", "-subj", "/CN=SmartViewSDK"];
  execFileSync("openssl", ["req", ...options, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  return { ...made, fingerprint: new X509Certificate(made.cert).fingerprint256 };
}
