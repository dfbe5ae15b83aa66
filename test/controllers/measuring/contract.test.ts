import { FrameHub, videoFactory } from "@labwright/controllers";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { controllerContract } from "../contract.ts";

controllerContract("The driver video", async () => {
  const context = controllerContext("lab/tv");
  const hub = new FrameHub({ perSecond: 25 });
  const device = { ...context.device, frames: () => hub };
  const [controller] = videoFactory.create(videoFactory.settings.parse({}), { ...context, device });
  if (!controller) throw new Error("The factory made no controller.");
  return {
    controller,
    factory: videoFactory,
    endless: { command: "measure_zap", params: {} },
    dispose: async () => hub.end(),
  };
});
