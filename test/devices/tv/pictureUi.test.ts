import {
  avFactory,
  type ControllerFactory,
  type DriverController,
  pictureUiFactory,
  x11Factory,
} from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { type KodiLab, startKodi } from "../../lab/tv/kodi/index.ts";

const never = new AbortController().signal;

describe("the screen of Kodi by its picture", () => {
  let lab: KodiLab;
  let screen: DriverController;
  const opened: DriverController[] = [];
  beforeAll(async () => {
    lab = await startKodi();
    const { device, ...context } = controllerContext("lab/box");
    const ports = {
      ...device,
      frames: () => capture.frames ?? device.frames(),
      press: (key: string) => run(remote, "press_key", { key }),
    };
    const open = async (factory: ControllerFactory, given: object) => {
      const [made] = factory.create(factory.settings.parse(given), { ...context, device: ports });
      if (!made) throw new Error("The factory made no controller.");
      await made.open(never);
      opened.push(made);
      return made;
    };
    const remote = await open(x11Factory, { display: lab.display });
    const capture = await open(avFactory, { x11: lab.display });
    screen = await open(pictureUiFactory, {});
  });
  afterAll(async () => {
    for (const controller of opened.reverse()) await controller.close();
    await lab?.stop();
  });

  it("moves its focus to what is named, and arrives where the judge says", async () => {
    for (const item of ["TV shows", "Pictures", "Music videos", "Weather", "Movies"]) {
      await run(screen, "move_focus_to", { selector: item, timeout_ms: 3_000 });
      expect(await lab.oracle.gui()).toMatchObject({ window: "Home", control: item });
    }
  });
});

function run({ commands }: Pick<DriverController, "commands">, name: string, params: object) {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return command.run(command.input.parse(params), never);
}
