import type { AdviceAct, OwnerQuestion, WorkHabit } from "./adviceAct.ts";
import type { AdviceSearch } from "./adviceSearch.ts";
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
 * Kinds that make GPUs observable and free none. Their `gainedGpus` are GPUs that are observed again. They gain no GPU-hours,
 * and so they rank after all kinds that do, among themselves by those GPUs.
 */
export const observingKinds: ReadonlySet<AdviceKind> = new Set<AdviceKind>(["fix_source"]);

/** The state of a recommendation. `taken`: the cluster itself shows that someone did it, or a person reports it. */
export const adviceStates = ["open", "taken", "expired", "dismissed"] as const;

export type AdviceState = (typeof adviceStates)[number];

/** Any value that JSON can express. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** One request to the Kubernetes API, as it would be sent. */
export interface ApiRequest {
  readonly verb: "POST" | "PATCH" | "PUT" | "DELETE";
  /** Absolute path, each part percent-encoded: `/api/v1/namespaces/ads/pods/train-0/eviction`. */
  readonly path: string;
  /** Content type of the body; `null` for a request without one. */
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
  /** What the step does, in one line. */
  readonly title: string;
  readonly request: ApiRequest;
  /** What must still be true, in words; the request carries it where the API can check it (uid, version, a JSON-patch test). */
  readonly precondition: string;
  /** The request as a command that a person can paste into a shell. */
  readonly command: string;
  /** The same command as a dry run on the server, which is to be run first; `null` where the API has no dry run. */
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
  /** held - entitled of the leaf queues whose deviation the plan changes most (at most 20), GPUs; empty where unknown. */
  readonly deviations: readonly { readonly queue: string; readonly domain: string; readonly gpus: number }[];
  /** Physical GPUs allocated to workloads that do not use them. */
  readonly idleGpus: number;
  /** Physical GPUs that are allocated, but not observed. */
  readonly unobservedGpus: number;
  /** Hours of the last 168 for which unused nodes have been unused, without a break until now. */
  readonly idleNodeHoursPerWeek: number;
  /** Cost per week by currency, of all nodes of the pools that the plan touches and that have a price. */
  readonly costPerWeek: readonly Money[];
}

/** What a plan would change, by simulation; every number of a pool or queue covers only those that the plan touches. */
export interface AdviceEffect {
  readonly before: EffectMeasures;
  readonly after: { readonly mostAllocated: EffectMeasures; readonly leastAllocated: EffectMeasures };
  /**
   * Physical GPUs that its beneficiary gains; `measured` is compared with them. For what each kind gains see
   * docs/recommendations.md.
   */
  readonly gainedGpus: EffectRange;
  /** GPU-hours gained within the horizon (24 h). */
  readonly gainedGpuHours: EffectRange;
  /** Waiting work that starts in the simulation, `namespace/name`, under the worse rule; at most ten are named. */
  readonly starts: readonly string[];
  /**
   * By how much less the last 7 days would have cost, for the part of them in which the same was true: without the nodes that
   * go away, or the unused GPUs that waiting work takes. Empty where nothing is saved, or nothing has a price.
   */
  readonly savingPerWeek: readonly Money[];
}

/** What a plan costs those whose work it touches. */
export interface AdviceCost {
  readonly pods: number;
  readonly gangs: number;
  /** GPU-hours of work that is done again: since the last checkpoint, or since the start, and the restart itself. */
  readonly lostGpuHours: number;
  /** Whether the GPU-hours are an upper bound, because for part of the work no checkpoint is known. */
  readonly isUpperBound: boolean;
  readonly teams: readonly string[];
}

/** How far a recommendation can be trusted, with the reasons for and against it. */
export interface AdviceConfidence {
  readonly level: "high" | "medium" | "low";
  readonly reasons: readonly string[];
}

/** For whom a plan is made. */
export interface AdviceBeneficiary {
  /**
   * `workload`: waiting work; `queue`; `pool`: its whole free nodes; `team`: the one that pays; `node`: one to be observed
   * again.
   */
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
  /** When it was first seen, seconds since the epoch. */
  readonly at: number;
  /** Physical GPUs of the gain that are lost again through it. */
  readonly gpus: number;
}

/** What was measured after someone had taken the advice. */
export interface MeasuredEffect {
  /** GPUs gained by the end of the cool-down; while the cool-down goes on, the gain so far. */
  readonly gainedGpus: number;
  /** GPU-hours lost by the plan itself, and by its pods that were evicted again within the horizon. */
  readonly lostGpuHours: number;
  /** When one of these values last changed, seconds since the epoch. */
  readonly at: number;
  /** Whether the gain is final and does not change any more. */
  readonly isFinal: boolean;
  /** What undid the plan, watched for until the horizon is over; `null`: nothing did. */
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

/** One piece of advice: what to do, why, what it would change and what it costs. Fairlead never carries it out itself. */
export interface Recommendation {
  /**
   * Derived from kind and need alone (a queue, a team in a pool, a gang, a node): other changes of the plan do not change it.
   */
  readonly id: string;
  readonly kind: AdviceKind;
  readonly act: AdviceAct;
  /** Why the recommendation has this act, in sentences. */
  readonly actReasons: readonly string[];
  /** The title in one line, without generated suffixes of names. */
  readonly title: string;
  /** Why it is advised now, in sentences with the numbers that it rests on. */
  readonly reason: string;
  readonly evidence: readonly { readonly name: string; readonly value: string }[];
  /** The steps of the plan; empty for an `ask`. */
  readonly steps: readonly AdviceStep[];
  /** The questions to its owners; only for an `ask`. */
  readonly questions: readonly OwnerQuestion[];
  /** The habit of idle work; `null` for everything else. */
  readonly habit: WorkHabit | null;
  /** For work that looks busy and computes nothing: since when, seconds since the epoch; absent for everything else. */
  readonly stalledSince?: number | undefined;
  readonly beneficiary: AdviceBeneficiary;
  /** The objects that it acts on: `Kind namespace/name` or `Kind name`. */
  readonly targets: readonly string[];
  /** The team that gives and the team that gets, for labels; empty if there is none. */
  readonly fromTeam: string;
  readonly forTeam: string;
  readonly queue: string;
  readonly pool: string;
  readonly effect: AdviceEffect;
  readonly cost: AdviceCost;
  /**
   * GPU-hours gained within the horizon less those lost, under the worse rule: advice is ranked by this. In an `ask`, a loss
   * counts with the probability that the work is wanted again; the time of work that hangs is lost already. 0 for
   * `observingKinds`.
   */
  readonly worthGpuHours: number;
  readonly confidence: AdviceConfidence;
  /** Guards that were asked and allow it. */
  readonly guards: readonly string[];
  /** Alternatives that would have been better or cheaper, and why each may not be taken. */
  readonly blockedAlternatives: readonly string[];
  readonly state: AdviceState;
  /** Seconds since the epoch. */
  readonly firstSeenAt: number;
  /** When it was last opened: advice that had expired and is needed again within a day keeps its record. */
  readonly openedAt: number;
  /** How often it was opened. */
  readonly openings: number;
  /** Ids of other advice that expired because this one serves the same need better, or excludes it. */
  readonly replaces: readonly string[];
  /** The id of the advice that replaced it; `null` if none did. */
  readonly replacedBy: string | null;
  /** Parts of its plan (pods, nodes, settings) that were seen to be done; `null` while none was, whatever a person reports. */
  readonly parts: { readonly done: number; readonly all: number } | null;
  readonly computedAt: number;
  readonly validUntil: number;
  /** When it left `open`; `null` while it has not. */
  readonly closedAt: number | null;
  /**
   * Why it left `open`: the sign by which it was seen, what expired, who reports that it is done, or who dismissed it and why.
   */
  readonly closedBecause: string | null;
  readonly measured: MeasuredEffect | null;
  readonly aftermath: Aftermath | null;
  readonly alerts: readonly LinkedAlert[];
}

/** Something that was looked at and is not offered, with the reason. */
export interface WithheldAdvice {
  readonly kind: AdviceKind;
  /** What the advice was about. */
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
  /** Open advice, the one worth most first; then advice that was taken, dismissed or expired lately, newest first. */
  readonly recommendations: readonly Recommendation[];
  readonly withheld: readonly WithheldAdvice[];
  /** Physical GPUs by which expected fragmentation would fall after the best plan, by pool. */
  readonly reducibleFragmentation: ReadonlyMap<string, number>;
  /** How the advice that was shown turned out, by kind and act; absent if it was not followed up. */
  readonly trackRecords?: readonly AdviceTrackRecord[];
  /** The search for advice; absent if none was made. */
  readonly search?: AdviceSearch;
}

/** The value for a moment without advice. */
export const noAdvice: Advice = { recommendations: [], withheld: [], reducibleFragmentation: new Map() };
