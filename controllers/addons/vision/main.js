export { languageOf } from "./language.js";
export { languages, openTextReader } from "./texts.js";
