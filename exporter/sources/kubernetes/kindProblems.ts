import type { Problem, Severity } from "../../model/problem.ts";
import { type ByKind, type WatchedKindName, watchedKinds } from "./kinds.ts";
import type { KindStatus } from "./reflectorStatus.ts";
import { grantStep, resourceName } from "./rights.ts";

/** How many undecodable objects of a kind are reported one by one. */
const maxObjects = 10;

/** The present problems with reading one kind. An absent kind is no problem: the cluster does not use it. */
export function kindProblems(name: WatchedKindName, status: KindStatus, isKnown: boolean): readonly Problem[] {
  return [...stateProblem(name, status, isKnown), ...objectProblems(name, status)];
}

/** One problem if the API server takes longer than `limitSeconds` to answer, whatever it is asked for. */
export function slowAnswers(
  names: readonly WatchedKindName[],
  status: ByKind<KindStatus>,
  limitSeconds: number,
): readonly Problem[] {
  const slow = names
    .map((name) => ({ resource: watchedKinds[name].resource, seconds: status[name].answerSeconds ?? 0 }))
    .filter(({ seconds }) => seconds > limitSeconds)
    .sort((a, b) => b.seconds - a.seconds);
  const [slowest] = slow;
  if (slowest === undefined) return [];
  return [
    {
      source: "kubernetes",
      code: "api-slow",
      severity: "warning",
      subject: null,
      message: `The Kubernetes API takes ${slowest.seconds.toFixed(1)} s to answer for ${slowest.resource}; ${slow.length} of ${names.length} kinds wait longer than ${limitSeconds} s.`,
      nextStep:
        "Look at the API server's load and its priority and fairness queues; numbers stay right as long as their age is shown below the limit.",
    },
  ];
}

function stateProblem(name: WatchedKindName, status: KindStatus, isKnown: boolean): readonly Problem[] {
  const { group, resource, right } = watchedKinds[name];
  const subject = resourceName(group, resource);
  const severity: Severity = isKnown ? "warning" : "error";
  const age = status.ageSeconds === null ? "they were never read" : `last right ${Math.round(status.ageSeconds)} s ago`;
  const cause = status.lastError ?? "no answer yet";
  if (status.state === "forbidden") {
    return [
      {
        source: "kubernetes",
        code: "forbidden",
        severity,
        subject,
        message: `Fairlead may not list and watch ${subject} (${age}): ${cause}`,
        nextStep: grantStep("list and watch", subject, right),
      },
    ];
  }
  if (status.state !== "failing") return [];
  return [
    {
      source: "kubernetes",
      code: "kind-failing",
      severity,
      subject,
      message: `Reading ${subject} from the Kubernetes API fails (${age}): ${cause}`,
      nextStep: "Check that the API server can be reached from Fairlead's pod and that its credentials are valid.",
    },
  ];
}

function objectProblems(name: WatchedKindName, status: KindStatus): readonly Problem[] {
  const reported = status.problems.slice(0, maxObjects);
  const more = status.skippedObjects - reported.length;
  if (more <= 0) return reported;
  return [
    ...reported,
    {
      source: "kubernetes",
      code: "malformed-object",
      severity: "warning",
      subject: watchedKinds[name].resource,
      message: `${more} more ${watchedKinds[name].resource} are left out because they could not be read.`,
      nextStep: "Correct the objects that are named first; the others usually have the same fault.",
    },
  ];
}
