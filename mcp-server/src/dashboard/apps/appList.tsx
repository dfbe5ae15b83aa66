import { Empty, Shown } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";

type AppLine = { id: string; name: string; project?: string; models: string[]; nodes: number; edges: number };

/** All apps that have a model. */
export function AppList() {
  const apps = usePolled(
    "apps",
    async (signal) => {
      const asked = { max_tokens: 50_000 };
      return (await callTool<{ userinterfaces: AppLine[] }>("list_userinterfaces", asked, signal)).result
        .userinterfaces;
    },
    () => 10_000,
  );
  return (
    <>
      <h1>Apps</h1>
      <Shown of={apps} what="apps">
        {(found) =>
          found.length > 0 ? (
            <ul class="cards">
              {found.map(({ id, name, project, models, nodes, edges }) => (
                <li class="card" key={id}>
                  <h2>
                    <a
                      href={addressOf({
                        room: "apps",
                        // Two projects may have an app of one name.
                        id: found.some((other) => other.id !== id && other.name === name) ? id : name,
                      })}
                    >
                      {name}
                    </a>
                  </h2>
                  <p class="soft">
                    {nodes} places, {edges} ways, on {models.join(", ")}
                  </p>
                  {project !== undefined && <p class="soft small">{project}</p>}
                </li>
              ))}
            </ul>
          ) : (
            <Empty>
              No apps yet. Describe one in labwright/apps, or have an agent explore one:{" "}
              <code>labwright ask</code>
            </Empty>
          )
        }
      </Shown>
    </>
  );
}
