/**
 * How much a problem matters.
 * `error`: an answer is missing. `warning`: an answer is less certain than it should be. `info`: worth knowing.
 */
export const severities = ["error", "warning", "info"] as const;

export type Severity = (typeof severities)[number];

/**
 * Something that went wrong or does not fit, as data. Problems travel beside values, are counted in a metric by
 * `code`, and are shown in the terminal, on `/` and in the API.
 */
export interface Problem {
  /** What found the problem: a part of Fairlead or a source, such as `dcgm`, `kubernetes`, `join`, `inspect`. */
  readonly source: string;
  /** Stable, kebab-case name of the kind of problem; bounded in number, so it may be a label value. */
  readonly code: string;
  readonly severity: Severity;
  /** What the problem is about: a node, a pod, a URL, a file. Untrusted text. */
  readonly subject: string | null;
  /** What was found, in one sentence with the values that disagree. Untrusted text may be inside. */
  readonly message: string;
  /** What a person can do about it, in one sentence. */
  readonly nextStep: string;
}
