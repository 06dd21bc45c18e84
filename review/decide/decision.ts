import type { GpuState } from "../../exporter/model/gpuStates.ts";
import type { Costs } from "../document/parts.ts";

/** What a director can decide about. */
export type DecisionKind = "buy-or-rent" | "shift-quota" | "right-size" | "close-nodes" | "fix";

/** A number that a decision rests on; `null`: nobody knows it. */
export interface Evidence {
  readonly name: string;
  readonly unit: "GPU-h" | "GPUs" | "node-h" | "s";
  readonly value: number | null;
}

/** A loss of the waterfall. */
export interface Loss {
  readonly state: GpuState;
  readonly isAllocated: boolean;
  /** GPU-hours of the window. */
  readonly gpuHours: number;
}

/** Something to decide, with what it rests on. Names in its texts come from the cluster and are untrusted. */
export interface Decision {
  readonly kind: DecisionKind;
  /** The cluster of the pools that it is about; empty: it is about all clusters of the review. */
  readonly cluster: string;
  readonly title: string;
  readonly evidence: readonly Evidence[];
  readonly owner: string;
  readonly ifNothingIsDone: string;
  /** What is at stake, not what is saved. `null`: not known, or not what the decision is about. */
  readonly worth: {
    /** Money per week, by currency; `null` without a price, and where less than a day is covered. */
    readonly moneyPerWeek: Costs | null;
    /** GPU-hours for which work waited in the window. */
    readonly waitingGpuHours: number | null;
    /** GPU-hours of the window that were lost. */
    readonly lostGpuHours: number | null;
  };
  readonly coversLoss: Loss | null;
}

/** A large loss, or waiting work, for which nothing is to be decided, and why. */
export interface Undecided {
  /** The loss; `null`: it is waiting work. */
  readonly loss: Loss | null;
  readonly reason: string;
}

/** A decision before it is known whether it is one of the few that are shown, or why there is none. */
export type Proposal = { readonly decision: Decision } | { readonly undecided: Undecided };
