import type { Command, ControllerContext } from "../contract.ts";
import { type DialogPort, dialogCommand } from "../screens/dialogCommand.ts";
import type { ScreenInput } from "../screens/input.ts";
import { focusCommand, inputCommands, touchCommands } from "../screens/inputCommands.ts";
import type { KeyInput } from "../screens/keys.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { type Typing, textCommands } from "../screens/textCommands.ts";
import type { TouchInput } from "../screens/touch.ts";
import { waitCommand } from "../screens/waitFor.ts";
import { type AppPort, appCommands } from "./apps.ts";
import { type FilePort, fileCommands } from "./files.ts";
import { type ClipboardPort, clipboardCommands, type KeyboardPort, keyboardCommand } from "./system.ts";

/** What the commands of a phone or TV need of its driver. */
export type Phone = {
  context: ControllerContext;
  reader: ScreenReader;
  touch: TouchInput;
  keys: KeyInput;
  /** One of the two, chosen by what the open device is. */
  input(): ScreenInput;
};
export type PhonePorts = {
  typing: Typing;
  dialogs: DialogPort;
  apps: AppPort;
  files: FilePort;
  clipboard: ClipboardPort;
  keyboard: KeyboardPort;
};

/** The commands that every phone and TV offers. */
export const phoneCommands = (
  { context, reader, touch, keys, input }: Phone,
  ports: PhonePorts,
): Command[] => [
  ...inputCommands(input),
  ...touchCommands(touch),
  focusCommand(keys),
  ...textCommands(input, ports.typing),
  waitCommand(reader),
  ...appCommands(context, ports.apps),
  ...fileCommands(context, ports.files),
  ...clipboardCommands(ports.clipboard),
  keyboardCommand(ports.keyboard),
  dialogCommand(input, ports.dialogs),
];
