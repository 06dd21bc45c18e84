import type { Problem, Severity } from "../model/problem.ts";

/** Problems of one kind, by their source and code. */
export interface ProblemGroup {
  /** The first of them, which represents all. */
  readonly first: Problem;
  readonly count: number;
  /** The subjects of the problems, each once, in the order of the problems; problems without a subject have none here. */
  readonly subjects: readonly string[];
}

/** The most problems of one kind that are listed one by one. */
const mostSingle = 3;

const severityOrder: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Sorts problems, the worst first; equally bad ones keep their order. */
function worstFirst(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity]);
}

/**
 * Problems for people, the worst first: one fault that every node has is one line. The few problems of a rare kind keep lines
 * of their own, because their words may differ.
 */
export function problemGroups(problems: readonly Problem[]): readonly ProblemGroup[] {
  const kinds = Map.groupBy(worstFirst(problems), ({ severity, source, code }) => `${severity}/${source}/${code}`);
  return [...kinds.values()]
    .flatMap((kind) => (kind.length > mostSingle ? [kind] : kind.map((one) => [one])))
    .flatMap(groupOf);
}

function groupOf(problems: readonly Problem[]): readonly ProblemGroup[] {
  const [first] = problems;
  if (first === undefined) return [];
  const subjects = new Set(problems.map(({ subject }) => subject).filter((subject) => subject !== null));
  return [{ first, count: problems.length, subjects: [...subjects] }];
}
