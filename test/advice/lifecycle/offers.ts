import { adviceId, needOf } from "../../../exporter/advice/identity.ts";
import type { Offer } from "../../../exporter/advice/offer.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import { pod, smallMoment, workload } from "../../publish/moment.ts";
import { reclaimAdvice } from "../../publish/someAdvice.ts";

export const start = 1_800_000_000;
export const interval = 30;
export const settings = configSchema.parse({}).advice;

/** An offer to give search 16 GPUs back, which two pods of ads lose. Its need is that of its kind and beneficiary. */
export function offer(parts: Partial<Offer["draft"]> = {}, more: Partial<Omit<Offer, "draft">> = {}): Offer {
  const {
    state,
    firstSeenAt,
    openedAt,
    openings,
    replaces,
    replacedBy,
    parts: _,
    computedAt,
    validUntil,
    ...rest
  } = reclaimAdvice;
  const { closedAt, closedBecause, measured, aftermath, alerts, ...draft } = rest;
  const reported = { ...draft, ...parts };
  const seen: Pick<Offer, "signs" | "measuredBy"> = {
    signs: [{ kind: "pods-left", pods: victims.map((uid) => ({ uid, node: "h100-01" })) }],
    measuredBy: { kind: "work-started", work: ["Job/search/rank-7"] },
  };
  const need = more.need ?? needOf({ ...reported, ...seen });
  return {
    draft: { ...reported, id: parts.id ?? adviceId(need) },
    need,
    ...seen,
    disrupted: victims.map((uid) => ({ uid, work: `Job/ads/${uid}`, gpus: 8, workSince: start - 1800 })),
    ...more,
  };
}

export const victims = ["embed", "crawl"] as const;

/** A moment so many cycles after the start, in which these pods hold eight GPUs each. */
export function cycle(number: number, allocated: readonly string[] = victims, ended: readonly string[] = []): Analysis {
  const pods: readonly PodView[] = allocated.map((uid, i) => pod({ uid, gpus: 8, workload: i, node: "h100-01" }));
  return {
    ...smallMoment,
    snapshot: {
      ...smallMoment.snapshot,
      at: start + number * interval,
      pods,
      workloads: allocated.map((uid, i) =>
        workload({ namespace: uid.startsWith("rank") ? "search" : "ads", name: uid, pods: [i] }),
      ),
      endedPods: new Set(ended),
    },
  };
}
