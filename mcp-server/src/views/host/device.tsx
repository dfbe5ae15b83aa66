import { useEffect, useState } from "preact/hooks";
import { useAttempt, useRenewal } from "../attempt.tsx";
import { Badge, Facts, Unavailable } from "../states.tsx";
import { show, type ToolResult, type ViewProps } from "./host.tsx";

/** Of get_device_info; `artifact` only of capture_screenshot. */
type Result = {
  id?: string;
  model?: string;
  state?: string;
  open?: boolean;
  status?: string;
  controllers?: string;
  unavailable?: { driver: string; kind: string; reason: string }[];
  artifact?: string;
};

/** A device's picture and state, of whichever the call was; the other is asked for. */
function DeviceView({ args, result, call }: ViewProps<Result>) {
  const [shot, setShot] = useState(pictureIn(result));
  const [info, setInfo] = useState(
    result.structuredContent?.artifact === undefined ? result.structuredContent : undefined,
  );
  const [isWanted, setWanted] = useState(false);
  const tries = useAttempt();
  const { attempt } = tries;
  const isFollowed = isWanted && !tries.failure;
  const { device_id, session_id } = args;
  const device = info?.id === undefined ? { device_id, session_id } : { device_id: info.id };
  const picture = async () =>
    setShot(pictureIn(await call("capture_screenshot", result.structuredContent?.artifact ? args : device)));
  const state = async () => setInfo((await call<Result>("get_device_info", device)).structuredContent);
  const renew = () => attempt(() => Promise.all([state(), picture()]));
  useEffect(() => {
    if (info === undefined) attempt(state);
    else if (shot === undefined && info.open) attempt(picture);
  }, []);
  useRenewal(tries, isFollowed ? 3_000 : undefined, renew);
  const name = info?.id ?? String(device_id ?? "the device");
  return (
    <>
      <h1>{info?.id}</h1>
      <div class="row">
        <button type="button" onClick={renew}>
          {shot === undefined ? "Open it and show its picture" : "Renew"}
        </button>
        <button
          type="button"
          aria-pressed={isFollowed}
          onClick={() => {
            setWanted(!isFollowed);
            if (!isFollowed) renew();
          }}
        >
          Follow
        </button>
        {info?.state !== undefined && <span>{info.state}</span>}
        {info?.status !== undefined && <Badge status={info.status} />}
      </div>
      {tries.problem}
      {shot !== undefined && (
        <div class="screen">
          <img src={shot} alt={`What ${name} showed`} />
        </div>
      )}
      {info?.unavailable && <Unavailable of={info.unavailable} />}
      {info && (
        <Facts
          rows={[
            ["Model", info.model],
            ["Controllers", info.controllers],
          ]}
        />
      )}
    </>
  );
}

function pictureIn({ content = [] }: ToolResult<unknown, unknown>): string | undefined {
  const image = content.find(({ type }) => type === "image");
  return image && `data:${image.mimeType};base64,${image.data}`;
}

void show("device", DeviceView);
