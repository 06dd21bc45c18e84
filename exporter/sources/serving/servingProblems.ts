import type { Problem } from "../../model/problem.ts";
import type { GetErrorCode, GetResult } from "../http/getResult.ts";
import type { ServingReading } from "./readPage.ts";
import type { ServingTarget, UnreadablePod } from "./targets.ts";

/** The reason why a pod gave no page. */
export interface TargetReason {
  readonly code: GetErrorCode | "malformed" | "too_many_series";
  readonly words: string;
}

/** A pod that gives no page. */
export interface FailingTarget {
  readonly target: ServingTarget;
  readonly because: TargetReason;
  /** The time of the first of the failures in a row, seconds since the epoch. */
  readonly since: number;
}

/** The reason why an answer is no page; `null` if it is one, whether of a server or of something else. */
export function whyFailing(result: GetResult<ServingReading>): TargetReason | null {
  if (!result.ok) return { code: result.code, words: result.message };
  const { value } = result;
  if (value.ok || value.because === "no_server") return null;
  const words = value.because === "malformed" ? "a line of its page is not understood" : "its page has too many series";
  return { code: value.because, words };
}

const nextSteps: Partial<Record<TargetReason["code"], string>> = {
  refused: "Check port and path: the pod's prometheus.io annotations, or serving.discovery[].port.",
  timeout: "Look at network policies between Fairlead and the pod, or raise serving.timeoutSeconds.",
  unreachable: "Look at network policies between Fairlead and the pod.",
  status:
    "Check the path: the pod's prometheus.io/path, or serving.discovery[].path; pages that want credentials are not read.",
  bad_redirect: "Give the final path; redirects of pods are not followed.",
  too_large: "Look at what answers there; if it is right, raise serving.maxPageBytes.",
};

/** One problem for all pods whose monitors name a page that is not read for the same reason. */
export function unreadableProblems(pods: readonly UnreadablePod[]): readonly Problem[] {
  return [...Map.groupBy(pods, ({ why }) => why)].flatMap(([why, [first, ...others]]): readonly Problem[] => {
    if (first === undefined) return [];
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    return [
      {
        source: "serving",
        code: "monitor-not-readable",
        severity: "info",
        subject: first.name,
        message: `the page of pod ${first.name}${more}, which ${first.monitor} names, is not read: ${why}; whether these pods have requests is unknown`,
        nextStep:
          "Let Fairlead ask the Prometheus that scrapes them (serving.prometheus), or serve the page without it.",
      },
    ];
  });
}

/** One problem for all pods that fail for the same reason, those with the most pods first. */
export function servingProblems(failing: readonly FailingTarget[], all: number): readonly Problem[] {
  const alike = [...Map.groupBy(failing, ({ because }) => because.code)].sort(([, a], [, b]) => b.length - a.length);
  return alike.flatMap(([code, group]): readonly Problem[] => {
    const [first] = group.toSorted((a, b) => a.since - b.since);
    if (first === undefined) return [];
    const more = group.length === 1 ? "" : ` and ${group.length - 1} more of ${all}`;
    const since = new Date(first.since * 1000).toISOString();
    return [
      {
        source: "serving",
        code: `pod-${code.replaceAll("_", "-")}`,
        severity: "warning",
        subject: first.target.name,
        message: `the page of pod ${first.target.name}${more} cannot be read: ${first.because.words}; since ${since}; whether these pods have requests is unknown`,
        nextStep: nextSteps[code] ?? "Ask the same address by hand (curl) from Fairlead's pod.",
      },
    ];
  });
}
