import type { ResourceAmounts, TextMap } from "../node.ts";

/** One requirement on a node's labels, as in node affinity. */
export interface LabelRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`; anything else matches nothing. */
  readonly operator: string;
  readonly values: readonly string[];
}

export interface Toleration {
  /** The key of the taint; empty with operator `Exists`: tolerates every taint. */
  readonly key: string;
  readonly operator: "Exists" | "Equal";
  readonly value: string;
  /** The effect that is tolerated; `null`: every effect. */
  readonly effect: string | null;
}

/** What one pod of a template asks of its node. */
export interface PodNeeds {
  /** Effective requests of one pod in base units: `cpu` in cores, `memory` in bytes, extended resources as counts. */
  readonly requests: ResourceAmounts;
  readonly nodeSelector: TextMap;
  /** Required node affinity: one of the terms must match, with all its requirements. Empty: nothing is required. */
  readonly nodeAffinity: readonly (readonly LabelRequirement[])[];
  readonly tolerations: readonly Toleration[];
}
