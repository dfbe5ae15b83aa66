export { languages, openTextReader } from "./texts.js";
