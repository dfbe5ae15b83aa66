import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asFailure, Failure, Problem } from "../../views/states.tsx";
import { answerOf, callTool, read } from "../shell/api.ts";
import { type Action, clickAt, createQueue, keyed, press } from "./input.ts";
import type { DeviceReply } from "./replies.ts";

const keys = ["UP", "DOWN", "LEFT", "RIGHT", "OK", "BACK", "HOME"];

/** What the device shows, while someone looks. Whoever holds it clicks and types into the picture. */
export function LivePicture({ device, isHeld }: { device: DeviceReply; isHeld: boolean }) {
  const { id } = device;
  // To watch a closed device starts it, so that is asked for.
  const [isWanted, setWanted] = useState(device.open);
  const [failure, setFailure] = useState<Failure>();
  const queue = useMemo(() => {
    const made = createQueue(async (action) => {
      const failed = await act(id, action);
      if (failed) made.clear();
      setFailure(failed);
    });
    return made;
  }, [id]);
  const acted = (action: Action) => {
    setFailure(undefined);
    queue.add(action);
  };
  return (
    <section class="stack" aria-label="Picture">
      {isWanted ? (
        <Screen device={device} isHeld={isHeld} act={acted} />
      ) : (
        <div class="card">
          <p>{id} is not open.</p>
          <p>
            <button type="button" onClick={() => setWanted(true)}>
              Open it and show its picture
            </button>
          </p>
        </div>
      )}
      <div aria-live="polite">{failure && <Problem failure={failure} />}</div>
      {isHeld && isWanted && (
        <>
          <p class="soft small">
            Click into the picture, then type. Tab and Escape leave it; the buttons press keys of a remote.
          </p>
          <div class="row">
            {keys.map((key) => (
              <button type="button" key={key} onClick={() => acted(press(key))}>
                {key}
              </button>
            ))}
          </div>
        </>
      )}
      {!isHeld && isWanted && <p class="soft small">Take control to click and type into the picture.</p>}
    </section>
  );
}

async function act(id: string, action: Action): Promise<Failure | undefined> {
  try {
    const asked = { device_id: id, actions: [action], look: false };
    const { status, reason } = await callTool<ActionReply>("execute_device_action", asked);
    const { code = status, message = "It did not pass." } = reason ?? {};
    return status === "passed" || status === "running" ? undefined : new Failure(code, message);
  } catch (error) {
    return asFailure(error);
  }
}
type ActionReply = { status: string; reason?: { code: string; message: string } };

type ScreenProps = { device: DeviceReply; isHeld: boolean; act(action: Action): void };

function Screen({ device, isHeld, act: send }: ScreenProps) {
  const image = useRef<HTMLImageElement>(null);
  const { href, failure, retry } = useLiveAddress(device.id);
  useEffect(() => {
    const shown = image.current;
    // Left as it is, a picture that left the page would still be sent. Without an address there is no error either.
    return () => shown?.removeAttribute("src");
  }, [href]);
  if (failure)
    return (
      <div class="card">
        <Problem failure={failure} />
        <p>
          <button type="button" onClick={retry}>
            Try again
          </button>
        </p>
      </div>
    );
  const picture = href && (
    <img
      ref={image}
      src={href}
      alt={`What ${device.id} shows now`}
      draggable={false}
      onError={() => retry(href)}
    />
  );
  if (!isHeld) return <div class="screen">{picture}</div>;
  return (
    <div
      class="screen held"
      role="application"
      aria-label={`Screen of ${device.id}: clicks and keys go to the device`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys
      tabIndex={0}
      onClick={(event) => {
        const shown = image.current;
        if (!shown || shown.naturalWidth === 0) return;
        const size = { width: shown.naturalWidth, height: shown.naturalHeight };
        send(clickAt(device, event, { box: shown.getBoundingClientRect(), size }));
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
        const action = keyed(device, event);
        if (!action) return;
        event.preventDefault();
        send(action);
      }}
    >
      {picture}
    </div>
  );
}

/** False in a tab in the background, which would take one of a browser's six connections to a server, and pictures that no one sees. */
function useSeen(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const note = () => setSeen(!document.hidden);
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
  return isSeen;
}

/** An address of the live picture that needs no token. `retry` gets another, or says why the picture of `failed` did not come. */
function useLiveAddress(id: string) {
  const [state, setState] = useState<{ href?: string; failure?: Failure }>({});
  const isSeen = useSeen();
  const load = () =>
    read<{ href: string }>(`devices/${encodeURIComponent(id)}/live-address`).then(
      setState,
      (error: unknown) => setState({ failure: asFailure(error) }),
    );
  const retry = async (failed?: unknown) => {
    if (typeof failed !== "string") return load();
    setState({ failure: await reasonOf(failed) });
  };
  useEffect(() => {
    if (isSeen) void load();
    else setState({});
  }, [id, isSeen]);
  return { ...state, retry: (failed?: unknown) => void retry(failed) };
}

/** An image says only that it failed; the same address says why. */
async function reasonOf(href: string): Promise<Failure> {
  const stop = new AbortController();
  const failure = await answerOf(href, { signal: stop.signal }).then(() => undefined, asFailure);
  stop.abort();
  return failure ?? new Failure("PICTURE_ENDED", "The picture ended.");
}
