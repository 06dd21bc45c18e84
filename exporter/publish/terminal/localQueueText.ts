import type { LocalQueueExplanation } from "../explain/localQueueSchema.ts";
import { plainText } from "./columns.ts";
import { fold } from "./fold.ts";

/** Names give way: a sentence has several of them. */
const longestSentence = 2_000;

/** A LocalQueue in sentences, for a terminal of 100 columns; what would have to change is last. */
export function localQueueText({ sentences }: LocalQueueExplanation): readonly string[] {
  return [
    ...sentences.flatMap((sentence, i) => {
      const isChange = i === sentences.length - 1;
      return fold(`  ${isChange ? "-> " : ""}${plainText(sentence, longestSentence)}`, isChange ? "     " : "    ");
    }),
    "",
  ];
}
