import type { Problem } from "../../exporter/model/problem.ts";
import type { ExitCode, Io } from "../io.ts";

/** Says what is wrong and what to do; the command ends with an error. */
export function showProblem(problem: Problem, io: Io): ExitCode {
  io.err(`fairlead: ${problem.message}\nNext step: ${problem.nextStep}\n`);
  return 1;
}
