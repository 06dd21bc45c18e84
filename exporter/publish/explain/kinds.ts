/** What can be explained. */
export const explainedKinds = ["team", "queue", "workload", "pod", "node"] as const;

export type ExplainedKind = (typeof explainedKinds)[number];
