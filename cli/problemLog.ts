import type { Problem } from "../exporter/model/problem.ts";
import { printable } from "./printable.ts";

/** A log with the two levels of a problem's lines, such as one of `pino`. */
export interface LineLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/**
 * The most lines for problems that began, or that ended, in one cycle. Further problems share a line, because a whole cluster
 * may fail at once.
 */
const maxLines = 50;

/** Turns the problems of each cycle into log lines: one when a problem begins, one when it is over. */
export function createProblemLog(log: LineLog): (problems: readonly Problem[]) => void {
  let known = new Set<string>();
  return (problems) => {
    const now = new Map(problems.map((problem) => [keyOf(problem), problem] as const));
    const begun = [...now].filter(([key]) => !known.has(key));
    const over = [...known].filter((key) => !now.has(key));
    for (const [key, { source, message, nextStep }] of begun.slice(0, maxLines))
      log.warn({ source, problem: key, nextStep }, oneLine(message));
    if (begun.length > maxLines)
      log.warn({ problems: begun.length - maxLines }, "and more problems began; /api/v1/problems lists all of them");
    for (const key of over.slice(0, maxLines)) log.info({ problem: key }, "over");
    if (over.length > maxLines) log.info({ problems: over.length - maxLines }, "and more problems are over");
    known = new Set(now.keys());
  };
}

/**
 * Makes a text one line. Text from the cluster may be in it, which must not begin a new line or move the cursor of whoever
 * reads the log.
 */
const oneLine = (text: string): string => printable(text).replaceAll("\n", "\\n");

const keyOf = ({ code, subject }: Problem): string => (subject === null ? code : `${code} ${subject}`);
