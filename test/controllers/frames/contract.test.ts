import { FrameHub } from "@labwright/controllers";
import { frameSourceContract } from "../ports.ts";

const space = { width: 64, height: 36, rotation: 0 } as const;

frameSourceContract("A hub that is fed", async () => {
  const hub = new FrameHub({ perSecond: 50 });
  let at = 0;
  const timer = setInterval(() => {
    hub.push({ bytes: new Uint8Array(64 * 36 * 3).fill(at), pixels: "rgb", space, presentedMs: 20 * at++ });
  }, 20);
  return {
    port: hub,
    async dispose() {
      clearInterval(timer);
      hub.end();
    },
  };
});
