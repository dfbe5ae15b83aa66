import type { ApiRequest } from "../../../../domain/index.ts";
import { jsonText } from "../../../values/exactNumbers.ts";
import { type Bodies, formText, pairsOf } from "./requestBody.ts";

/** Longer bodies are cut, and the line says so. */
const longestBody = 1_000;
const secret = /\{\{\s*secret\s*\.\s*([A-Za-z_]\w*)\s*\}\}/;

type Asked = Bodies & Pick<ApiRequest, "method" | "url" | "headers" | "follow_redirects">;

/** The request as a line for a shell. A secret is a variable of its name, `$NAME`; a cookie of the run is named, no more. */
export function curlLine(
  { method, url, headers, follow_redirects, ...bodies }: Asked,
  cookies: string,
): string {
  const names = cookies
    .split("; ")
    .flatMap((pair) => pair.split("=", 1))
    .filter((name) => name !== "");
  const shown =
    names.length > 0 ? ` # with the run's cookies ${names.join(", ").replace(/[\r\n]/g, " ")}` : "";
  const { options, cut } = bodyOptions(bodies, headers);
  return [
    "curl -i",
    ...(follow_redirects ? ["-L"] : []),
    method === "HEAD" ? "--head" : `-X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...options,
    `${quoted(url)}${shown}${cut}`,
  ].join(" ");
}

function bodyOptions(bodies: Bodies, headers: Asked["headers"]): { options: string[]; cut: string } {
  const { body, form, multipart, body_file } = bodies;
  if (multipart) {
    return {
      options: pairsOf(multipart).map(([name, part]) => `-F ${quoted(`${name}=${partText(part)}`)}`),
      cut: "",
    };
  }
  if (body_file !== undefined) return { options: [`--data-binary ${quoted(`@${body_file}`)}`], cut: "" };
  if (form) return dataOption(readable(formText(form)));
  if (body === undefined) return { options: [], cut: "" };
  if (typeof body === "string") return dataOption(body);
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const { options, cut } = dataOption(jsonText(body) ?? "null");
  return { options: [...(isTyped ? [] : ["-H 'content-type: application/json'"]), ...options], cut };
}

function dataOption(text: string): { options: string[]; cut: string } {
  const rest = text.length - longestBody;
  if (rest <= 0) return { options: [`--data-raw ${quoted(text)}`], cut: "" };
  return {
    options: [`--data-raw ${quoted(text.slice(0, longestBody))}`],
    cut: ` # body: ${rest} characters more`,
  };
}

const partText = (part: string | number | boolean | { file: string; content_type?: string | undefined }) =>
  typeof part !== "object"
    ? String(part)
    : `@${part.file}${part.content_type === undefined ? "" : `;type=${part.content_type}`}`;

/** The braces of a secret's name as they were before the form was encoded. */
const readable = (form: string) =>
  form.replace(
    /%7B%7B(\+|%20)*secret\.(\w+)(\+|%20)*%7D%7D/g,
    (_all, _before, name: string) => `{{secret.${name}}}`,
  );

/** For a POSIX shell: single quotes, and a secret as a variable in double ones. */
function quoted(text: string): string {
  const parts = text.split(new RegExp(secret, "g"));
  // Every second part is a secret's name.
  return (
    parts
      .map((part, index) =>
        index % 2 === 1 ? `"$${part}"` : part === "" ? "" : `'${part.replaceAll("'", "'\\''")}'`,
      )
      .join("") || "''"
  );
}
