/** The command that a person types in place of a tool. */
const commands: Readonly<Record<string, string>> = {
  ...{ list_hosts: "labwright list devices", diagnose: "labwright doctor", take_control: "labwright take" },
  ...{ release_control: "labwright release", dump_ui_elements: "labwright look" },
  ...{ capture_screenshot: "labwright shot", execute_device_action: "labwright do" },
  ...{ verify_device_state: "labwright check", navigate_to_node: "labwright go" },
  ...{ list_testcases: "labwright list tests", list_userinterfaces: "labwright list apps" },
  ...{ execute_testcase: "labwright run", get_execution_status: "labwright list runs" },
  ...{ get_execution_results: "labwright list runs", import_userinterface: "labwright import" },
  ...{ create_userinterface: "labwright init", export_userinterface: "labwright export APP" },
  ...{ create_edge: "in the app's file", create_node: "in the app's file" },
};
const names = new RegExp(`\\b(?:([Cc])all )?(${Object.keys(commands).join("|")})\\b`, "g");

/** A message or hint of a tool, for a person at a command line: tools by the commands that do the same. */
export const forTerminal = (text: string): string =>
  text.replace(names, (_, call: string | undefined, name: string) => {
    const verb = call === undefined ? "" : call === "C" ? "Run " : "run ";
    return `${verb}${commands[name]}`;
  });

const codeHints: Readonly<Record<string, string>> = {
  DEVICE_AMBIGUOUS: "Name one with --device.",
  DEVICE_HELD: "Wait for it, or name another device with --device.",
  LEASE_EXPIRED: "Run it again; the device is taken if it is still free.",
  LEASE_LOST: "Wait until they are done, then run it again.",
  LEASE_NOT_FOUND: "Run it again; the device is taken if it is free.",
};

/** The next step after an error, for a person at a command line. */
export const hintFor = ({ code, hint }: { code: string; hint: string }): string =>
  codeHints[code] ?? forTerminal(hint);
