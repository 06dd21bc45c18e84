import type { Snapshot } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { UsageHistory } from "../fairness/fairness.ts";
import type { Finding } from "./finding.ts";
import { unsharedQuotaFindings } from "./idleQuota.ts";
import { kaiFindings } from "./kaiFindings.ts";
import { kaiHistoryFindings } from "./kaiHistoryFindings.ts";
import { kueueFairnessFindings } from "./kueueFairnessFindings.ts";
import { kueueFindings } from "./kueueFindings.ts";
import { kueuePreemptionFindings } from "./kueuePreemptionFindings.ts";
import { pastQueues } from "./pastQueues.ts";
import { quotaFindings } from "./quotaFindings.ts";
import { unknownQueues } from "./unknownQueues.ts";
import { volcanoFindings } from "./volcanoFindings.ts";

const checks = [
  kueueFindings,
  kueueFairnessFindings,
  kueuePreemptionFindings,
  unsharedQuotaFindings,
  volcanoFindings,
  kaiFindings,
  kaiHistoryFindings,
  quotaFindings,
  pastQueues,
  unknownQueues,
] as const;

/**
 * What in the configuration of queues makes fairness differ from what its author meant, ordered by code and name. Findings that
 * depend on a scheduler's settings are reported only if these were read. `history` is the past use in the entitlement of this
 * moment; `null`: none. Pure.
 */
export function findings(snapshot: Snapshot, history: UsageHistory | null = null): readonly Finding[] {
  const found: Finding[] = [];
  for (const check of checks) {
    for (const one of check(snapshot, history)) found.push(one);
  }
  return found.sort(inOrder);
}

const inOrder = (a: Finding, b: Finding): number =>
  compareText(a.code, b.code) ||
  compareText(a.scheduler, b.scheduler) ||
  compareText(a.kind, b.kind) ||
  compareText(a.name, b.name);
