import type { Domain } from "../../registry/tool.ts";

/** In one line on 12 by 12 squares, and in a colour that is seen on light and dark. */
const iconOf = (path: string) => ({
  src: `data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0,0,12,12'%20fill='none'%20stroke='%2347a'%3E%3Cpath%20d='${path}'/%3E%3C/svg%3E`,
  mimeType: "image/svg+xml",
  sizes: ["any"],
});
export type Icon = ReturnType<typeof iconOf>;

/** A screen with a tick. */
export const serverIcon = iconOf("M1,2h10v6.5H1zM4,10.5h4M4,5l1.5,1.5,2.5-3");

const paths: Readonly<Record<Domain, string>> = {
  devices: "M3,1h6v10H3zM5,9h2",
  actions: "M3,1v9l2.5-2.5H9z",
  screen: "M1,2h10v6.5H1zM4,10.5h4",
  verification: "M1.5,6.5l3,3,6-7",
  navigation: "M1,6h9M7,3l3,3-3,3",
  planning: "M1,3h3v3h3v3h4",
  userinterfaces: "M1,2h10v8H1zM1,4.5h10",
  tree: "M6,1v6M2,11V7h8v4",
  testcases: "M4,1h4M5,1v4L2,11h8L7,5V1",
  scripts: "M4,3L1,6l3,3M8,3l3,3-3,3",
  executions: "M3,1.5l7,4.5-7,4.5z",
  deployments: "M6,1a5,5,0,1,0,.1,0zM6,3v3h3",
  alerts: "M6,1l5,10H1zM6,5v3",
  requirements: "M2,1h8v10H2zM4,4h4M4,7h4",
  processes: "M10,4a4.5,4.5,0,1,0,.5,3M10,1v3H7",
  investigations: "M5,1a4,4,0,1,0,.1,0zM8,8l3,3",
  workspace: "M1,2h4l1,2h5v6H1z",
  apis: "M4,1H2v4L1,6l1,1v4h2M8,1h2v4l1,1-1,1v4H8",
};

/** By domain. */
export const toolIcons: ReadonlyMap<unknown, Icon[]> = new Map(
  Object.entries(paths).map(([domain, path]) => [domain, [iconOf(path)]]),
);
