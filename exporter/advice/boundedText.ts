import { withoutGeneratedSuffixes } from "../kernel/stemOfName.ts";
import type { WithheldAdvice } from "../model/recommendation.ts";
import type { RecommendationDraft } from "./offer.ts";

/** The most characters that are shown of a text. Names may be longer than Kubernetes allows. */
const longest = { title: 300, reason: 2000, other: 500 } as const;

/**
 * Text on one line, without control characters for terminals, and at most `most` characters long. Anybody may have written the
 * names in it.
 */
export function boundedText(text: string, most: number): string {
  const line = text.slice(0, 2 * most).replace(/[\p{Cc}\p{Cf}\u2028\u2029\p{Cs}]/gu, "?");
  return text.length > 2 * most || line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const other = (text: string): string => boundedText(text, longest.other);

/**
 * Advice whose texts for people are bounded and whose title is without generated names. Labels, and what identifies the advice,
 * do not change.
 */
export function withBoundedText(draft: RecommendationDraft): RecommendationDraft {
  const { title, reason, evidence, beneficiary, targets, effect, confidence, blockedAlternatives } = draft;
  return {
    ...draft,
    actReasons: draft.actReasons.map(other),
    questions: draft.questions.map(({ to, about, question, facts }) => ({
      to: other(to),
      about: other(about),
      question: other(question),
      facts: facts.map(other),
    })),
    title: boundedText(withoutGeneratedSuffixes(title), longest.title),
    reason: boundedText(reason, longest.reason),
    evidence: evidence.map(({ name, value }) => ({ name: other(name), value: other(value) })),
    beneficiary: { ...beneficiary, name: other(beneficiary.name) },
    targets: targets.map(other),
    effect: { ...effect, starts: effect.starts.map(other) },
    confidence: { ...confidence, reasons: confidence.reasons.map(other) },
    blockedAlternatives: blockedAlternatives.map(other),
  };
}

/** Withheld advice whose texts for people are bounded in the same way. */
export const boundedWithheld = (withheld: WithheldAdvice): WithheldAdvice => ({
  ...withheld,
  subject: other(withheld.subject),
  reason: boundedText(withheld.reason, longest.reason),
});
