import type { Problem } from "../exporter/model/problem.ts";
import type { Io } from "./io.ts";

/** The text of a problem: what is wrong, and what to do. */
export const problemText = ({ message, nextStep }: Pick<Problem, "message" | "nextStep">): string =>
  `fairlead: ${message}\nNext step: ${nextStep}\n`;

/** Says what is wrong and what to do; the command ends with an error. */
export function showProblem(problem: Pick<Problem, "message" | "nextStep">, io: Pick<Io, "err">): 1 {
  io.err(problemText(problem));
  return 1;
}

/** Says what is wrong and what to do, where there is no problem object; the command ends with an error. */
export const refuse = (message: string, nextStep: string, io: Pick<Io, "err">): 1 =>
  showProblem({ message, nextStep }, io);

/** Says why something cannot be had and what to do; returns `null` in place of it. */
export function withhold(message: string, nextStep: string, io: Pick<Io, "err">): null {
  showProblem({ message, nextStep }, io);
  return null;
}
