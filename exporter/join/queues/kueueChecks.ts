import type { Condition } from "../../model/queues/condition.ts";
import type { KueueAdmissionCheck, KueueCheckState, KueueWorkload } from "../../model/queues/kueue.ts";
import { kueueCheckControllers } from "../../model/wellKnown.ts";
import type { HoldingCheck } from "./gangFacts.ts";

/** The result of the admission checks of a Workload. */
export interface CheckedWorkload {
  /** The checks that hold it back. */
  readonly holding: readonly HoldingCheck[];
  /** Whether it has quota although a ProvisioningRequest for its nodes is not fulfilled yet. */
  readonly awaitsNodes: boolean;
  /** Whether it is for other clusters: none of its pods is ever created here. */
  readonly isForOthers: boolean;
  /** The cluster that has taken it, and since when; `null`: none has. */
  readonly dispatched: { readonly cluster: string | null; readonly since: number | null } | null;
}

const unchecked: CheckedWorkload = { holding: [], awaitsNodes: false, isForOthers: false, dispatched: null };

/**
 * Reads the admission checks of a Workload. Before quota is reserved every check is `Pending` and holds nothing back; `Retry`
 * and `Rejected` do at any time; once it is admitted a check that was added later changes nothing (kueue v0.19
 * apis/kueue/v1beta2/admissioncheck_types.go, pkg/workload/admissionchecks.go). MultiKueue's check is `Ready` when a
 * worker has taken it (pkg/controller/admissionchecks/multikueue/workload.go, syncAdmittingRemoteState).
 */
export function checkedWorkload(
  { checks = [], clusterName, nominatedClusters = [], conditions }: KueueWorkload,
  controllers: ReadonlyMap<string, string>,
): CheckedWorkload {
  if (checks.length === 0) return unchecked;
  const isReserved = isTrue(conditions, "QuotaReserved");
  const holds = ({ state }: KueueCheckState): boolean =>
    state === "Retry" || state === "Rejected" || (state === "Pending" && isReserved && !isTrue(conditions, "Admitted"));
  const holding = checks.flatMap((check): readonly HoldingCheck[] => {
    const { name, state, message } = check;
    return state === "Ready" || !holds(check)
      ? []
      : [{ name, state, message, controller: controllers.get(name) ?? null }];
  });
  const isOf = (controller: string) => (check: KueueCheckState) => controllers.get(check.name) === controller;
  const sender = checks.find(isOf(kueueCheckControllers.multiKueue));
  // Where AdmissionChecks cannot be read, only MultiKueue names clusters.
  const isSent = sender === undefined ? clusterName !== undefined && checks.every(isReady) : isReady(sender);
  return {
    holding,
    awaitsNodes: holding.some(({ controller }) => controller === kueueCheckControllers.provisioning) && isReserved,
    isForOthers: sender !== undefined || clusterName !== undefined || nominatedClusters.length > 0,
    dispatched:
      isReserved && isSent
        ? { cluster: clusterName ?? clusterIn(sender?.message ?? ""), since: sender?.changedAt ?? null }
        : null,
  };
}

const isReady = ({ state }: KueueCheckState): boolean => state === "Ready";

function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.isTrue);
}

/** `The workload was admitted on "worker1"`; before v0.13 that is all that names the cluster. */
const clusterIn = (message: string): string | null => /\bon "([^"]+)"/.exec(message)?.[1] ?? null;

/** The controller of each AdmissionCheck, by name. */
export function controllersOf(checks: readonly KueueAdmissionCheck[]): ReadonlyMap<string, string> {
  return new Map(checks.map(({ name, controllerName }) => [name, controllerName]));
}

const longestReason = 300;

/** What holds a Workload back by its checks, as people read it; empty where none does. */
export function checksReason({ holding }: CheckedWorkload, { nominatedClusters = [] }: KueueWorkload): string {
  const texts = holding.map(({ name, state, message, controller }) => {
    const asked =
      controller === kueueCheckControllers.multiKueue && nominatedClusters.length > 0
        ? ` (no cluster has taken it yet; asked: ${nominatedClusters.join(", ")})`
        : controller === kueueCheckControllers.multiKueue
          ? " (no cluster has taken it yet)"
          : "";
    return `AdmissionCheck ${name} is ${state}${asked}${message === "" ? "" : `: ${message}`}`;
  });
  return texts.join("; ").slice(0, longestReason);
}
