import type { Problem } from "../../model/problem.ts";
import { standstillCodes } from "./pageProblems.ts";
import type { TargetRecord } from "./targetRecord.ts";

/** The greatest number of problems that are listed one by one; the rest is one line. */
const maxListed = 20;

/** The present problems of the targets: failing targets first, then odd pages. */
export function targetProblems(
  records: readonly TargetRecord[],
  now: number,
  maxAgeSeconds: number,
): readonly Problem[] {
  if (records.length === 0) return [noTargets];
  const failing = records.flatMap((record) =>
    record.fault === null ? [] : [failingTarget(record, now, maxAgeSeconds)],
  );
  const odd = records.flatMap(({ pageProblems }) => pageProblems);
  return [
    ...firstOnes(
      failing,
      "targets-failing",
      "error",
      `${failing.length} of ${records.length} GPU telemetry targets fail`,
    ),
    ...firstOnes(odd, "pages-odd", "warning", `${odd.length} things are odd about the pages of exporters`),
  ];
}

const noTargets: Problem = {
  source: "dcgm",
  code: "no-targets",
  severity: "error",
  subject: null,
  message: "no GPU telemetry target is known: no exporter pod was discovered and none is listed",
  nextStep: "Install dcgm-exporter, or set dcgm.discovery (namespaces, labels) or dcgm.targets to where it runs.",
};

/** The first problems one by one; the rest as one line. */
export function firstOnes(
  problems: readonly Problem[],
  code: string,
  severity: Problem["severity"],
  summary: string,
): readonly Problem[] {
  if (problems.length <= maxListed) return problems;
  const rest: Problem = {
    source: "dcgm",
    code,
    severity,
    subject: null,
    message: `${summary}; ${maxListed} are listed`,
    nextStep: "Solve the listed ones first; where they say the same, they probably have one cause.",
  };
  return [...problems.slice(0, maxListed), rest];
}

function failingTarget(record: TargetRecord, now: number, maxAgeSeconds: number): Problem {
  const { fault, target, name, lastGoodAt } = record;
  const place = target.node === null ? name : `${name} (node ${target.node})`;
  const since = new Date((fault?.since ?? now) * 1000).toISOString();
  const isUsable = lastGoodAt !== null && now - lastGoodAt <= maxAgeSeconds;
  const age = lastGoodAt === null ? 0 : Math.round(now - lastGoodAt);
  const effect = isUsable ? `its page of ${age} s ago is still used` : "the activity of its GPUs is unknown";
  return {
    source: "dcgm",
    code: codeOf(fault?.code ?? "failed"),
    severity: isUsable ? "warning" : "error",
    subject: target.node ?? name,
    message: `${place}: ${withoutPlace(fault?.message ?? "no page", place)}; failing since ${since}; ${effect}`,
    nextStep: fault?.nextStep ?? "Read the exporter's log.",
  };
}

const ownCodes: ReadonlySet<string> = new Set(Object.values(standstillCodes));

/**
 * The problem code of a fault. An exporter whose values do not change has a code of its own: the target answers, so nobody
 * should look for a target that fails.
 */
function codeOf(fault: string): string {
  return ownCodes.has(fault) ? fault : `target-${fault.replaceAll("_", "-")}`;
}

/** The message without its place. Faults of a page already begin with that. */
function withoutPlace(message: string, place: string): string {
  return message.startsWith(`${place}: `) ? message.slice(place.length + 2) : message;
}
