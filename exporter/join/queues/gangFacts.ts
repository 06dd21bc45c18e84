import type { ResourceAmounts } from "../../model/node.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";

/** A check besides quota that holds a gang back (Kueue's admission checks). */
export interface HoldingCheck {
  /** Name of the AdmissionCheck. */
  readonly name: string;
  /** `Pending`: it has not judged yet; `Retry`: it asks again later; `Rejected`: it never passes. */
  readonly state: "Pending" | "Retry" | "Rejected";
  /** The check's own message, bounded untrusted text; may be empty. */
  readonly message: string;
  /** `controllerName` of the AdmissionCheck; `null` if that object does not exist or could not be read. */
  readonly controller: string | null;
}

/** Facts that only some gangs have. Each is absent if there is nothing to report. */
export interface GangFacts {
  /**
   * Checks that hold it back now, in its object's order: for work with quota those that have not passed, for other work those
   * that forbid it.
   */
  readonly checks?: readonly HoldingCheck[];
  /** Whether it has quota and waits for a ProvisioningRequest: its nodes do not exist yet. Absent: no. */
  readonly awaitsNodes?: boolean;
  /**
   * Kueue: the time by which it is in the line of its queue, seconds since the epoch; absent where that is `since`. Work that
   * was preempted keeps the place of its creation.
   */
  readonly queuedAt?: number;
  /**
   * For the growth of an elastic job that runs: pods with GPUs for which the job has quota (`from`), and that it wants (`to`).
   */
  readonly growth?: { readonly from: number; readonly to: number };
  /**
   * Whether it can never run, and its queue system has no object of it: it is in no queue's line. Absent: it is in a line, or
   * may run.
   */
  readonly isOutOfLine?: true;
  /**
   * Whether it is the copy that MultiKueue made here of work that waits in another cluster: it asks for GPUs here, among
   * others, and its wait is counted there. Absent: it is no copy, or this cluster has given it quota.
   */
  readonly isCopy?: true;
  /**
   * Whether each of its members starts and runs without the others from now on, though their number was admitted as one: a Job
   * that Kueue has given quota. Absent: fewer than its minimum do not run.
   */
  readonly membersRunAlone?: true;
  /** All that it asks for, where fewer pods are enough; `gpus` in physical GPUs, `null` if not known. */
  readonly most?: { readonly pods: number; readonly gpus: number | null };
}

/** Facts of a gang before its pods are known. */
export interface DeclaredFacts
  extends Pick<
    GangFacts,
    "checks" | "awaitsNodes" | "queuedAt" | "growth" | "isOutOfLine" | "isCopy" | "membersRunAlone"
  > {
  /** For the growth of an elastic job: `uid` of the gang that runs. */
  readonly growthOf?: string;
  /** The LimitRange that refuses its pods, with the amount and the limit, as a sentence; members that exist are not touched. */
  readonly refusedBy?: string;
}

/** The facts that are kept unchanged from the object to the waiting gang; `null`: there are none. */
export function keptFacts(facts: DeclaredFacts): DeclaredFacts | null {
  const { checks, awaitsNodes, queuedAt, growth, isOutOfLine, isCopy, membersRunAlone } = facts;
  const all = [checks, awaitsNodes, queuedAt, growth, isOutOfLine, isCopy, membersRunAlone];
  if (all.every((fact) => fact === undefined)) return null;
  return {
    ...(checks === undefined ? {} : { checks }),
    ...(awaitsNodes === undefined ? {} : { awaitsNodes }),
    ...(queuedAt === undefined ? {} : { queuedAt }),
    ...(growth === undefined ? {} : { growth }),
    ...(isOutOfLine === undefined ? {} : { isOutOfLine }),
    ...(isCopy === undefined ? {} : { isCopy }),
    ...(membersRunAlone === undefined ? {} : { membersRunAlone }),
  };
}

/** Work that a queue system has sent to another cluster (MultiKueue), as its object in this cluster reports it. */
export interface DispatchedGang {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly ownerUids: readonly string[];
  readonly ownerKind: string | null;
  readonly ownerName: string | null;
  readonly scheduler: QueueScheduler;
  /** The ClusterQueue in this cluster; empty where it is not known. */
  readonly queue: string;
  readonly localQueue: string;
  readonly priorityClass: string | null;
  /** The cluster that has taken it; `null` where its object names none. */
  readonly cluster: string | null;
  /** Since when, seconds since the epoch; `null` where that is not known. */
  readonly since: number | null;
  readonly pods: number;
  /** The sum of the requests of all its pods: extended resources and base units. */
  readonly requests: ResourceAmounts;
}

/** Work that runs in another cluster: here it neither holds GPUs nor waits. It is counted in that other cluster. */
export interface DispatchedWork {
  readonly scheduler: QueueScheduler;
  /** The workload that people know, or else the object itself. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly team: string;
  readonly queue: string | null;
  readonly localQueue: string;
  readonly priorityClass: string;
  readonly cluster: string | null;
  readonly since: number | null;
  readonly pods: number;
  /** GPUs as this cluster's nodes count them; `null` if they do not show it. */
  readonly gpus: number | null;
}
