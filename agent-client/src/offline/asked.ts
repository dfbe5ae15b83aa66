import { foldedWords } from "@labwright/skills";

type Said = { role: string; text: string };

/**
 * The request that the last message belongs to, and the answers since: a message that is an option of the question before
 * it is an answer, any other is a request of its own. A question lists its options by number.
 */
export function requestIn(said: readonly Said[]): { text: string; answers: string[] } {
  const answers: string[] = [];
  let at = said.length - 1;
  while (at >= 2 && isAnswer(said[at]?.text ?? "", said[at - 1])) {
    answers.unshift(said[at]?.text ?? "");
    at -= 2;
  }
  return { text: said[at]?.text ?? "", answers };
}

function isAnswer(text: string, question: Said | undefined): boolean {
  if (question?.role !== "assistant") return false;
  const options = [...question.text.matchAll(/^\d+\. (.*)$/gm)].map(([, option = ""]) => option);
  const key = keyOf(text);
  return options.some((option) => keyOf(option) === key || keyOf(option.replace(/^.*\//, "")) === key);
}

const keyOf = (text: string): string => foldedWords(text).join(" ");
