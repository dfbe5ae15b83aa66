import { type ComponentType, render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Failure, Problem } from "../views/states.tsx";
import { AgentList } from "./agents/agentList.tsx";
import { AgentPage } from "./agents/agentPage.tsx";
import { AlertList, AlertPage } from "./alerts/alerts.tsx";
import { AppList } from "./apps/appList.tsx";
import { AppPage } from "./apps/appPage.tsx";
import { DeviceList } from "./devices/deviceList.tsx";
import { DevicePage } from "./devices/devicePage.tsx";
import { RequirementList, RequirementPage } from "./requirements/requirements.tsx";
import { RunList } from "./runs/runList.tsx";
import { RunPage } from "./runs/runPage.tsx";
import { ScheduleList, SchedulePage } from "./schedules/schedules.tsx";
import { readSession } from "./shell/api.ts";
import { useConnection } from "./shell/connection.ts";
import { enter } from "./shell/entry.ts";
import { Notices } from "./shell/notices.tsx";
import { addressOf, type RoomName, type Route, readRoute, rooms, titleOf } from "./shell/route.ts";
import { TestList } from "./tests/testList.tsx";
import { TestPage } from "./tests/testPage.tsx";

type RoomView = {
  list: ComponentType;
  one: ComponentType<{ id: string; step?: number | undefined }>;
};

const views: Readonly<Record<RoomName, RoomView>> = {
  devices: { list: DeviceList, one: DevicePage },
  apps: { list: AppList, one: AppPage },
  runs: { list: RunList, one: RunPage },
  agents: { list: AgentList, one: AgentPage },
  tests: { list: TestList, one: TestPage },
  schedules: { list: ScheduleList, one: SchedulePage },
  alerts: { list: AlertList, one: AlertPage },
  requirements: { list: RequirementList, one: RequirementPage },
};

function useRoute(): Route {
  const [route, setRoute] = useState(readRoute(location.hash));
  // Not later than it is drawn: the address may change in between.
  useLayoutEffect(() => {
    const read = () => setRoute(readRoute(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return route;
}

function Room({ room, id, step }: Route) {
  const { list: List, one: One } = views[room];
  return id === undefined ? <List /> : <One id={id} step={step} />;
}

/** What keeps the page from newer answers, in words that a screen reader reads once. */
function Connection() {
  const connection = useConnection();
  return (
    <div aria-live="polite">
      {connection === "offline" && (
        <p class="note warn">
          Labwright does not answer. This page shows what it knew last, and goes on when it answers again.
        </p>
      )}
      {connection === "closed" && (
        <p class="note warn">
          This page is not signed in: Labwright was started again, or the page rested too long. Get a new one
          with: <code>labwright open</code>
        </p>
      )}
    </div>
  );
}

function Page({ refused }: { refused: Failure | undefined }) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${route.id ?? titleOf(route.room)} · Labwright`;
    if (!isFirst.current && route.step === undefined) main.current?.focus();
    isFirst.current = false;
  }, [route.room, route.id]);
  return (
    <>
      <a class="skip" href={addressOf(route)} onClick={() => main.current?.focus()}>
        Skip to the content
      </a>
      <header class="bar">
        <strong>Labwright</strong>
        <nav aria-label="Rooms">
          <ul>
            {rooms.map((room) => (
              <li key={room}>
                <a href={addressOf({ room })} aria-current={room === route.room ? "page" : undefined}>
                  {titleOf(room)}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main ref={main} tabIndex={-1} class="stack">
        {refused && <Problem failure={refused} />}
        <Connection />
        {readSession() !== undefined && <Notices />}
        {readSession() === undefined ? <SignedOut /> : <Room key={`${route.room}/${route.id}`} {...route} />}
      </main>
    </>
  );
}

const SignedOut = () => (
  <p class="empty">
    This page opens from the command line, on the machine that Labwright runs on: <code>labwright open</code>
  </p>
);

const refused = await enter();
const place = document.getElementById("page");
if (place) render(<Page refused={refused} />, place);
