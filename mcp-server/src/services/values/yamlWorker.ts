import { parentPort } from "node:worker_threads";
import { parseExactly, type YamlQuestion } from "./yamlSource.ts";

parentPort?.on("message", (question: YamlQuestion) => parentPort?.postMessage(parseExactly(question)));
