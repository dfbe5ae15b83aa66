/** One thing that was looked at; `fix` is the command or setting that mends it when it is not ok. */
export type Finding = { what: string; status: "ok" | "warning" | "missing"; detail: string; fix?: string };
