import type { ControllerFactory } from "@labwright/controllers";
import { z } from "zod";
import { labelSchema, paramsSchema } from "../domain/common.ts";
import { urlPatternSchema } from "../domain/urlPattern.ts";
import { agentsSchema } from "./agents.ts";

type Factories = readonly Pick<ControllerFactory, "name" | "settings">[];

const hostName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be lower-case letters, digits and inner hyphens");
const deviceName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, "must be letters, digits, _, . and -, at most 63 of them");
const secretName = z.string().regex(/^[A-Za-z_]\w{0,79}$/, "must be letters, digits and _");
const modelName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, "must be lower-case letters, digits and _");
const file = z.string().min(1).max(4_000);
const ms = (max: number) => z.int().min(1).max(max);
const day = 86_400_000;

const serverSchema = z.strictObject({
  name: hostName
    .optional()
    .describe("Name of this host in device ids; the machine's own name when left out."),
  host: z.string().min(1).default("127.0.0.1").describe("Address to listen on."),
  port: z.int().min(0).max(65_535).optional().describe("Port to listen on; 0 takes a free one."),
  tls: z.strictObject({ cert: file, key: file }).optional().describe("PEM files; needed beyond loopback."),
  trusted_proxy: z
    .string()
    .min(1)
    .optional()
    .describe("Name or address of the proxy that ends TLS in front of this server."),
  allowed_hosts: z.array(z.string().min(1)).max(50).default([]).describe("Further Host headers to accept."),
  allowed_origins: z.array(z.url()).max(50).default([]).describe("Origins of web pages that may call."),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, "must start with postgresql://")
    .optional()
    .describe("A PostgreSQL server, 15 or newer; the embedded database when left out."),
});

const limitsSchema = z.strictObject({
  lease_ms: ms(day).default(300_000).describe("How long a lease lasts after its last call."),
  idle_exit_ms: ms(7 * day)
    .default(600_000)
    .describe("When a daemon that a bridge started leaves."),
  call_ms: ms(3_600_000).default(300_000).describe("The longest any call may take."),
  position_stale_ms: ms(day)
    .default(30_000)
    .describe("Age from which a position is checked before it is trusted."),
  max_parallel_devices: z
    .int()
    .min(1)
    .max(256)
    .default(4)
    .describe(
      "Devices of this server on which something runs at the same time; further runs wait in the queue.",
    ),
  alert_pending_ms: ms(day)
    .default(5_000)
    .describe("How long a watched device shows something wrong until an alert is pending."),
  alert_active_ms: ms(day)
    .default(30_000)
    .describe(
      "How long something must stay wrong on a watched device before its alert becomes active and is sent.",
    ),
  alert_settle_ms: ms(day)
    .default(10_000)
    .describe("How long behind a command of ours a watched device may be dark, still or silent."),
  artifact_days: z.int().min(1).max(3_650).default(30).describe("How long artifacts are kept."),
  requests_per_host_minute: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(6_000)
    .describe("Requests of tests to one host and port within a minute; further ones wait."),
  script_ms: ms(day).default(1_800_000).describe("The longest a script may run."),
  script_memory_mb: z
    .int()
    .min(128)
    .max(1_000_000)
    .default(512)
    .describe("Memory of a script with all that it starts."),
  script_processes: z
    .int()
    .min(16)
    .max(10_000)
    .default(64)
    .describe("Processes and threads of a script; Node alone has about a dozen."),
  audit_days: z
    .int()
    .min(1)
    .max(3_650)
    .default(90)
    .describe(
      "How long it is kept who did what to which device; also events, ended tasks, and conversations that are not continued.",
    ),
  artifact_mb: z
    .int()
    .min(1)
    .max(10_000_000)
    .default(2_048)
    .describe("Space for artifacts; the oldest go first."),
});

/** A pattern with a path would never hold: only the origin is compared. */
const isWholeHost = (text: string): boolean => !text.includes("://") || /:\/\/[^/]+(\/\*?)?$/.test(text);
const secretHostSchema = z.union(
  [
    z.string().regex(/^app:[\w.-]{1,200}$/),
    urlPatternSchema.refine(isWholeHost, "a host of a secret takes no path"),
  ],
  "must be host, host:port, *.host, scheme://host, an IP network, or app:<package>, without a path",
);
const secretBounds = {
  hosts: z
    .array(secretHostSchema)
    .min(1)
    .max(50)
    .optional()
    .describe(
      "Sites and apps (app:<package>) it may be typed into and sent to, * for all; when left out this machine, hosts that environments and web_server name, and apps.",
    ),
  fields: z
    .enum(["password", "any"])
    .optional()
    .describe("Fields it may be typed into; password when hosts other than * are given, else any."),
};

const secretSchema = z.union(
  [z.strictObject({ env: z.string().min(1), ...secretBounds }), z.strictObject({ file, ...secretBounds })],
  "must be {env: VARIABLE} or {file: path}, with hosts of sites or app:<package> without a path, and fields password or any",
);

const webServerSchema = z.strictObject({
  command: z.string().min(1).max(4_000).describe("Starts the app, as a line for the shell."),
  url: z
    .url({ protocol: /^https?$/, error: "must be the http address of a page" })
    .describe("The app is there when this address answers with a status below 404."),
  timeout_ms: ms(3_600_000).default(60_000).describe("How long the app may take to start."),
  folder: file.optional().describe("Where the command runs; the folder of this file when left out."),
});

const deviceSchema = (factories: Factories) =>
  z.strictObject({
    name: deviceName,
    model: z.string().min(1).default("web").describe("A built-in model or one of models."),
    count: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe("Makes name, name-2, name-3 ..., each with controllers of its own."),
    watch: z
      .boolean()
      .default(false)
      .describe(
        "Opens it when the server starts, keeps it open, and raises alerts of what goes wrong on it.",
      ),
    controllers: z
      .strictObject(Object.fromEntries(factories.map(({ name, settings }) => [name, settings.optional()])))
      .default({})
      .describe("Settings by driver. A driver that the model does not have is added."),
    screen: z
      .string()
      .min(1)
      .optional()
      .describe("Driver or kind of the controller whose picture is shown, where several have one."),
  });

const modelSchema = z.strictObject({
  name: modelName,
  drivers: z.array(z.string().min(1)).max(20).describe("Drivers of every device of this model."),
});

const environmentSchema = z.strictObject({
  variables: paramsSchema
    .default({})
    .describe("Values that a test of a run in this environment reads as {{env.NAME}}."),
  production: z
    .boolean()
    .default(false)
    .describe("Requests that may change data are refused here, unless a run or allow_writes allows them."),
  urls: z
    .array(urlPatternSchema)
    .max(100)
    .default([])
    .describe(
      "Its addresses, as in url_policy: a request to one is in this environment, whatever its run says.",
    ),
  allow_writes: z.boolean().default(false).describe("Lets every run change data in production."),
  pii: z
    .array(z.string().min(1).max(120))
    .max(200)
    .default([])
    .describe("Names of variables, secrets and test data that hold data of real people."),
});

/** The whole of labwright.yaml. Its top keys are closed. */
export const configFileSchema = (factories: Factories) =>
  z.strictObject({
    server: serverSchema.prefault({}),
    devices: z
      .array(deviceSchema(factories))
      .min(1)
      .max(200)
      .prefault([{ name: "browser" }]),
    models: z
      .array(modelSchema)
      .max(100)
      .default([])
      .describe("Device models in addition to the built-in ones."),
    url_policy: z
      .strictObject({
        allow: z
          .array(urlPatternSchema)
          .max(500)
          .default([])
          .describe("When given, nothing else is allowed."),
        deny: z.array(urlPatternSchema).max(500).default([]).describe("Wins over allow."),
      })
      .prefault({}),
    secrets: z.record(secretName, secretSchema).default({}),
    folders: z
      .strictObject({ scripts: file, skills: file, uploads: file, artifacts: file, workspace: file })
      .partial()
      .default({})
      .describe("Relative to this file; folders of the data directory when left out."),
    limits: limitsSchema.prefault({}),
    environments: z
      .record(labelSchema, environmentSchema)
      .default({})
      .describe("Places a test can run against, such as staging, each with its variables."),
    unsafe: z
      .strictObject({
        javascript: z.boolean().default(false).describe("Offers execute_javascript."),
        device_shell: z.boolean().default(false).describe("Offers commands of a device's own shell."),
        unsandboxed_scripts: z.boolean().default(false),
        script_needs: z
          .array(z.string().regex(/^\w+$/))
          .max(100)
          .default([])
          .describe(
            "What a script gets that asks for it in its first lines: names of tools, force, other_devices.",
          ),
      })
      .prefault({}),
    agents: agentsSchema.prefault({}),
    matrix: z
      .array(z.string().min(1))
      .min(1)
      .max(50)
      .refine((names) => new Set(names).size === names.length, "names each entry once")
      .optional()
      .describe(
        "Browsers and devices on which labwright run runs each test, where neither --matrix nor --device is given.",
      ),
    web_server: webServerSchema
      .optional()
      .describe("The app under test, which labwright run starts and ends, unless it is there already."),
  });
export type ConfigFile = z.output<ReturnType<typeof configFileSchema>>;
