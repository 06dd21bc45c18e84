import type { KueueWorkload } from "../../model/queues/kueue.ts";

/** Uids by which a Workload's pods are found, nearest first: of its owner, and of the job that it was made for. */
export function kueueOwnerUids({ owner, jobUid }: Pick<KueueWorkload, "owner" | "jobUid">): readonly string[] {
  return [...new Set([owner?.uid, jobUid ?? undefined].filter((uid) => uid !== undefined))];
}
