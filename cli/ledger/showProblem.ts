import type { Problem } from "../../exporter/model/problem.ts";
import type { ExitCode, Io } from "../io.ts";

/** What is wrong, and what to do. */
export const problemText = ({ message, nextStep }: Pick<Problem, "message" | "nextStep">): string =>
  `fairlead: ${message}\nNext step: ${nextStep}\n`;

/** Says what is wrong and what to do; the command ends with an error. */
export function showProblem(problem: Problem, io: Io): ExitCode {
  io.err(problemText(problem));
  return 1;
}
