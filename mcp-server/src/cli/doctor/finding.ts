/** One thing that was looked at. `fix` is the command or setting that mends it; `missing` things keep Labwright from working. */
export type Finding = {
  what: string;
  status: "ok" | "warning" | "missing";
  detail: string;
  fix?: string;
};
