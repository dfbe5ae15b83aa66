import type { Config } from "../../config.ts";
/** One thing that was looked at; `fix` is what to do when it is not ok. */
export type Finding = {
    what: string;
    status: "ok" | "warning" | "missing";
    detail: string;
    fix?: string;
};
export type Diagnosis = {
    run(signal: AbortSignal): Promise<{
        ok: boolean;
        findings: Finding[];
    }>;
};
/** Says why there is no device. */
export declare function createDiagnosis({ config }: {
    config: Config;
}): Diagnosis;
