/** The intent that `am` starts. `flags` are its options without a value, such as -W. */
export type Intent = {
  action: string | undefined;
  data: string | undefined;
  category: string | undefined;
  component: string | undefined;
  packageName: string | undefined;
  extras: Map<string, string>;
  flags: Set<string>;
};

const fields = {
  "-a": "action",
  "-d": "data",
  "-c": "category",
  "-n": "component",
  "-p": "packageName",
} as const;
/** Options with one value that are passed over here. */
const valued = new Set(["-t", "-f", "-i", "--user", "--display", "--windowingMode", "-P", "--activityType"]);
/** Options of extras that have a name and a value. */
const extra = /^(?:-e|--e[a-z]*|--es|--ez|--ei|--el|--ef|--eu|--ecn|--esa|--eia|--ela)$/;

/** Reads the options of an intent; a last word is a component, an address or a package. */
export function readIntent(args: readonly string[]): Intent {
  const intent: Intent = {
    action: undefined,
    data: undefined,
    category: undefined,
    component: undefined,
    packageName: undefined,
    extras: new Map(),
    flags: new Set(),
  };
  const left = [...args];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) readOption(intent, arg, left);
  return intent;
}

function readOption(intent: Intent, arg: string, left: string[]): void {
  const field = Object.entries(fields).find(([option]) => option === arg)?.[1];
  if (field) intent[field] = left.shift();
  else if (extra.test(arg)) intent.extras.set(left.shift() ?? "", left.shift() ?? "");
  else if (valued.has(arg)) left.shift();
  else if (arg.startsWith("-")) intent.flags.add(arg);
  else if (/^[a-z][a-z0-9+.-]*:/i.test(arg)) intent.data = arg;
  else if (arg.includes("/")) intent.component = arg;
  else intent.packageName = arg;
}

/** An intent as Android prints it; its data are not shown in full. */
export function intentText({ action, data, category, component, packageName, extras }: Intent): string {
  const parts = [
    action === undefined ? undefined : `act=${action}`,
    category === undefined ? undefined : `cat=[${category}]`,
    data === undefined ? undefined : `dat=${data.split(":", 1)[0]}:/...`,
    packageName === undefined ? undefined : `pkg=${packageName}`,
    component === undefined ? undefined : `cmp=${component}`,
    extras.size === 0 ? undefined : "(has extras)",
  ];
  return parts.filter((part) => part !== undefined).join(" ");
}
