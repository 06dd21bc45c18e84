import type { PodView } from "../../join/snapshot.ts";
import type { AdviceMoment } from "../moment.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { GuardQuestion } from "./guards.ts";

/** A pod with its index into `Snapshot.pods`. */
export interface AskedPod {
  readonly index: number;
  readonly pod: PodView;
}

/** A question with everything that guards look up. */
export interface Asked {
  readonly moment: AdviceMoment;
  readonly how: GuardQuestion["how"];
  readonly by: NonNullable<GuardQuestion["by"]>;
  readonly beneficiary: GuardQuestion["beneficiary"];
  /** The pods that are asked about, each of them once. */
  readonly pods: readonly AskedPod[];
  readonly lookup: MomentIndex;
}

/** Why one pod may not be touched. */
export interface Objection {
  /** Index into `Snapshot.pods`. */
  readonly pod: number;
  readonly reason: string;
}

/** One rule: returns an objection for each pod that must not be touched. Pure. */
export type Guard = (asked: Asked) => readonly Objection[];

/** `Pod namespace/name`, as reasons name a pod. */
export const podName = ({ namespace, name }: PodView): string => `Pod ${namespace}/${name}`;
