import { callTool } from "../shell/api.ts";
import { Listing } from "../shell/listing.tsx";

type AppLine = { id: string; name: string; project?: string; models: string[]; nodes: number; edges: number };

/** All apps that have a model. */
export const AppList = () => (
  <Listing<AppLine>
    room="apps"
    everyMs={10_000}
    load={async (signal) => {
      const asked = { max_tokens: 50_000 };
      type Found = { userinterfaces: AppLine[] };
      return { items: (await callTool<Found>("list_userinterfaces", asked, signal)).userinterfaces };
    }}
    idOf={({ id }) => id}
    nameOf={({ name }) => name}
    choices={{ "Runs on": ({ models }) => models, Project: ({ project }) => [project] }}
    columns={{
      Places: ({ nodes }) => nodes,
      Ways: ({ edges }) => edges,
      "Runs on": ({ models }) => models.join(", "),
      Project: ({ project }) => project,
    }}
    empty="No apps yet. Describe one in labwright/apps, or have an agent explore one."
  />
);
