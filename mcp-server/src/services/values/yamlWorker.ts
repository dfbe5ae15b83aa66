import { parentPort } from "node:worker_threads";
import { parseExactly, type YamlQuestion } from "./exactYaml.ts";

parentPort?.on("message", (question: YamlQuestion) => parentPort?.postMessage(parseExactly(question)));
