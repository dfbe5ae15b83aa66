import type { StdioServer } from "./stdioServer.ts";

const shows = (text: string) => ({ command: "text_visible", params: { text } });
const open = (url: string) => ({ command: "navigate_to_url", params: { url } });

/** The app `shop` on the bench's pages, with the test case `login_basic`. */
export async function saveApp(host: StdioServer, url: (path: string) => string): Promise<void> {
  const app = {
    format_version: 1,
    name: "shop",
    models: ["web"],
    tree: {
      nodes: [
        { label: "Entry", type: "entry" },
        { label: "Start", verifications: [shows("A page of ordinary size.")] },
        { label: "Reached", verifications: [shows("Reached page")] },
      ],
      edges: [
        { source: "Entry", target: "Start", action_sets: [{ actions: [open(url("/small"))] }] },
        { source: "Start", target: "Reached", action_sets: [{ actions: [open(url("/reached"))] }] },
      ],
    },
  };
  await host.call("import_userinterface", { yaml: JSON.stringify(app) });
  await host.call("generate_and_save_testcase", {
    name: "login_basic",
    userinterface_name: "shop",
    description: 'go to Reached\ncheck for text "Reached page"',
  });
}
