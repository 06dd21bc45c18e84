import type { AdviceAct, OwnerQuestion, WorkHabit } from "./adviceAct.ts";
import type { AdviceTrackRecord, Aftermath } from "./aftermath.ts";
import type { PlacedSizeName } from "./placedSizes.ts";

/** What can be advised. */
export const adviceKinds = [
  "reclaim",
  "defragment",
  "release_idle",
  "scale_in",
  "change_quota",
  "share_gpu",
  "right_size",
  "unblock_gang",
  "drain_node",
  "fix_scheduler",
  "fix_source",
] as const;

export type AdviceKind = (typeof adviceKinds)[number];

/**
 * Kinds that make GPUs observable and free none: their `gainedGpus` are GPUs that are observed again, they gain no GPU-hours,
 * and they rank after all kinds that do, among themselves by those GPUs.
 */
export const observingKinds: ReadonlySet<AdviceKind> = new Set<AdviceKind>(["fix_source"]);

/** Where a recommendation is in its life. `taken`: the cluster itself shows that someone did it, or a person says so. */
export const adviceStates = ["open", "taken", "expired", "dismissed"] as const;

export type AdviceState = (typeof adviceStates)[number];

/** Anything that JSON can say. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** One request to the Kubernetes API, as it would be sent. */
export interface ApiRequest {
  readonly verb: "POST" | "PATCH" | "PUT" | "DELETE";
  /** Absolute path, each part percent-encoded: `/api/v1/namespaces/ads/pods/train-0/eviction`. */
  readonly path: string;
  /** Content type of the body; `null` without one. */
  readonly contentType:
    | "application/json"
    | "application/merge-patch+json"
    | "application/json-patch+json"
    | "application/strategic-merge-patch+json"
    | null;
  readonly body: JsonValue;
}

/** One step of a plan; steps are taken in their order. */
export interface AdviceStep {
  /** What it does, one line. */
  readonly title: string;
  readonly request: ApiRequest;
  /** What must still be so, in words; the request carries it where the API can check it (uid, resourceVersion, a JSON-patch test). */
  readonly precondition: string;
  /** The request as a command that a person can paste into a shell. */
  readonly command: string;
  /** The same as a dry run on the server, to be run first; `null` where the API has none. */
  readonly dryRun: string | null;
  /** What must have happened before the next step, in words; `null`: nothing. */
  readonly waitFor: string | null;
}

/** The smallest and the largest result of the simulation under different placement rules; equal if these agree. */
export interface EffectRange {
  readonly worst: number;
  readonly best: number;
}

/** An amount of money. */
export interface Money {
  readonly currency: string;
  readonly amount: number;
}

/** One side of an effect: the results of the same analyses for the cluster. */
export interface EffectMeasures {
  /** Physical GPUs of waiting gangs that are blocked although enough is free. */
  readonly blockedGpus: number;
  /** Physical GPUs of eligible work that waits. */
  readonly pendingGpus: number;
  /** Free GPUs of the pools that the plan touches. */
  readonly freeGpus: number;
  readonly placeablePods: Readonly<Record<PlacedSizeName, number>>;
  readonly wholeFreeNodes: number;
  /** Expected fragmentation, GPUs. */
  readonly expectedFragmentation: number;
  /** held - entitled of the leaf queues whose deviation the plan changes; empty where entitlement is not known. */
  readonly deviations: readonly { readonly queue: string; readonly domain: string; readonly gpus: number }[];
  /** Physical GPUs allocated to workloads that do not use them. */
  readonly idleGpus: number;
  /** Physical GPUs that are allocated and not observed. */
  readonly unobservedGpus: number;
  /** Hours of the last 168 for which unused nodes have been unused, without a break until now. */
  readonly idleNodeHoursPerWeek: number;
  /** By currency, of what has a price: of all nodes of the pools that the plan touches. */
  readonly costPerWeek: readonly Money[];
}

/** What a plan would change, simulated; every number of a pool or queue covers only those that the plan touches. */
export interface AdviceEffect {
  readonly before: EffectMeasures;
  readonly after: { readonly mostAllocated: EffectMeasures; readonly leastAllocated: EffectMeasures };
  /** Physical GPUs that its beneficiary gains: what `measured` is compared with. What that means, by kind: docs/recommendations.md. */
  readonly gainedGpus: EffectRange;
  /** GPU-hours gained within the horizon (24 h). */
  readonly gainedGpuHours: EffectRange;
  /** Waiting work that starts in the simulation, `namespace/name`, under the worse rule; at most ten are named. */
  readonly starts: readonly string[];
  /**
   * What the last 7 days would have cost less, for as long of them as it has been so: of nodes that go away, and of unused GPUs
   * that waiting work takes; empty where nothing is saved, or has a price.
   */
  readonly savingPerWeek: readonly Money[];
}

/** What a plan costs those whom it touches. */
export interface AdviceCost {
  readonly pods: number;
  readonly gangs: number;
  /** Work that is done again: since the last checkpoint, or since the start, and the restart itself. */
  readonly lostGpuHours: number;
  /** No checkpoint is known for part of it. */
  readonly isUpperBound: boolean;
  readonly teams: readonly string[];
}

/** How far to believe a recommendation, with what speaks for and against it. */
export interface AdviceConfidence {
  readonly level: "high" | "medium" | "low";
  readonly reasons: readonly string[];
}

/** For whom a plan is made. */
export interface AdviceBeneficiary {
  /** `workload`: waiting work; `queue`; `pool`: whole free nodes of it; `team`: who pays; `node`: who could be seen again. */
  readonly kind: "workload" | "queue" | "pool" | "team" | "node" | "cluster";
  /** `namespace/name` of a workload, else the name. */
  readonly name: string;
}

/**
 * How a plan that was taken was undone. `came-back`: released work, a node that was let go, or the fault of a source is back.
 * `evicted-again`: pods that it moved, or let start, have lost their place. `changed-back`: someone took back the setting.
 */
export const undoneWays = ["came-back", "evicted-again", "changed-back"] as const;

/** What undid a plan first. */
export interface Undone {
  readonly how: (typeof undoneWays)[number];
  /** When it was seen, seconds since the epoch. */
  readonly at: number;
  /** Physical GPUs that are gone again by it. */
  readonly gpus: number;
}

/** What was seen after someone had taken the advice. */
export interface MeasuredEffect {
  /** At the end of the cool-down, or as it is now while that goes on. */
  readonly gainedGpus: number;
  /** For the plan itself, and for its pods that were evicted again within the horizon. */
  readonly lostGpuHours: number;
  /** When one of these changed last, seconds since the epoch. */
  readonly at: number;
  /** The gain does not change any more. */
  readonly isFinal: boolean;
  /** Looked for until the horizon is over; `null`: nothing did. */
  readonly undone: Undone | null;
}

/** An alert of Alertmanager that concerns the subject of a recommendation. */
export interface LinkedAlert {
  readonly alertname: string;
  readonly fingerprint: string;
  readonly status: "firing" | "resolved";
  /** Seconds since the epoch. */
  readonly startsAt: number;
}

/** One piece of advice: what to do, why, what it would change and what it costs. Fairlead never does it itself. */
export interface Recommendation {
  /** From kind and need alone (a queue, a team in a pool, a gang, a node): targets, numbers and steps may change, the id stays. */
  readonly id: string;
  readonly kind: AdviceKind;
  readonly act: AdviceAct;
  /** Why it is this act, in sentences. */
  readonly actReasons: readonly string[];
  /** One line, without generated suffixes of names. */
  readonly title: string;
  /** Why now, in sentences with the numbers that it rests on. */
  readonly reason: string;
  readonly evidence: readonly { readonly name: string; readonly value: string }[];
  /** Empty for an `ask`. */
  readonly steps: readonly AdviceStep[];
  /** The questions to its owners; only for an `ask`. */
  readonly questions: readonly OwnerQuestion[];
  /** For idle work; `null` for everything else. */
  readonly habit: WorkHabit | null;
  /** For work that looks busy and computes nothing: since when, seconds since the epoch; absent for everything else. */
  readonly stalledSince?: number | undefined;
  readonly beneficiary: AdviceBeneficiary;
  /** What it acts on: `Kind namespace/name` or `Kind name`. */
  readonly targets: readonly string[];
  /** The team that gives and the one that gets, for labels; empty if there is none. */
  readonly fromTeam: string;
  readonly forTeam: string;
  readonly queue: string;
  readonly pool: string;
  readonly effect: AdviceEffect;
  readonly cost: AdviceCost;
  /**
   * GPU-hours gained within the horizon less those lost, under the worse rule: what advice is ranked by. In an `ask` a loss
   * counts with the probability that the work is wanted again; of work that hangs it is lost already. 0 of `observingKinds`.
   */
  readonly worthGpuHours: number;
  readonly confidence: AdviceConfidence;
  /** Guards that were asked and let it pass. */
  readonly guards: readonly string[];
  /** What would have been better or cheaper, and why it may not be. */
  readonly blockedAlternatives: readonly string[];
  readonly state: AdviceState;
  /** Seconds since the epoch. */
  readonly firstSeenAt: number;
  /** When it was opened last: what had expired and is needed again within a day is the same record. */
  readonly openedAt: number;
  /** How often it was opened. */
  readonly openings: number;
  /** Ids of advice that expired because this one serves the same need better, or excludes it. */
  readonly replaces: readonly string[];
  /** The id of the advice that replaced it; `null` if none did. */
  readonly replacedBy: string | null;
  /** Parts of its plan (pods, nodes, settings) that were seen to be done; `null` while none was, whatever a person says. */
  readonly parts: { readonly done: number; readonly all: number } | null;
  readonly computedAt: number;
  readonly validUntil: number;
  /** When it left `open`; `null` while it has not. */
  readonly closedAt: number | null;
  /** Why it left `open`: the sign by which it was seen, what expired, who says that it is done, or who dismissed it and why. */
  readonly closedBecause: string | null;
  readonly measured: MeasuredEffect | null;
  readonly aftermath: Aftermath | null;
  readonly alerts: readonly LinkedAlert[];
}

/** Something that was looked at and is not offered, with the reason. */
export interface WithheldAdvice {
  readonly kind: AdviceKind;
  /** What it was about. */
  readonly subject: string;
  /** A word for counting: `guard`, `worth`, `no-plan`, `excluded`, `standing`, `cool-down`, `dismissed`, `disabled`. */
  readonly why: WithheldReason;
  readonly reason: string;
  /** The id of the advice that it would be; absent or `null` if it was never planned. */
  readonly id?: string | null;
  /** For excluded advice: the id of the advice that is worth more. */
  readonly rival?: string;
}

export const withheldReasons = [
  "guard",
  "worth",
  "no-plan",
  "excluded",
  "standing",
  "cool-down",
  "dismissed",
  "disabled",
] as const;

export type WithheldReason = (typeof withheldReasons)[number];

/** All advice of one moment. */
export interface Advice {
  /** Open ones, most worth first; then those that were taken, dismissed or expired lately, newest first. */
  readonly recommendations: readonly Recommendation[];
  readonly withheld: readonly WithheldAdvice[];
  /** Physical GPUs by which expected fragmentation would fall after the best plan, by pool. */
  readonly reducibleFragmentation: ReadonlyMap<string, number>;
  /** How the advice that was shown turned out, by kind and act; absent if it was not followed up. */
  readonly trackRecords?: readonly AdviceTrackRecord[];
}

/** A moment without advice. */
export const noAdvice: Advice = { recommendations: [], withheld: [], reducibleFragmentation: new Map() };
