import { parentPort } from "node:worker_threads";
import { readSpec, type SpecQuestion } from "./readSpec.ts";

parentPort?.on("message", (question: SpecQuestion) => parentPort?.postMessage(readSpec(question)));
