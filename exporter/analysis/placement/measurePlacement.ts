import type { Config } from "../../config/schema.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { EndedShape } from "../../model/podShape.ts";
import { noPlacement, type Placement } from "./poolPlacement.ts";

/** What placement depends on beside the moment. */
export interface PlacementSettings extends Pick<Config["placement"], "targetWorkload"> {
  /** Pods with GPUs that ended in the last seven days; `null`: that is not known. */
  readonly ended: readonly EndedShape[] | null;
}

/** What is kept from one moment to the next to save work; with a new one the answer is equal. */
export interface PlacementCache {
  // Filled by measurePlacement alone.
  readonly nodes: Map<string, unknown>;
}

/** A cache that has seen nothing yet. */
export const createPlacementCache = (): PlacementCache => ({ nodes: new Map() });

/** Measures how well the free GPUs of every pool lie. Pure but for the cache, which changes no answer. */
export function* measurePlacementInSteps(
  _snapshot: Snapshot,
  _settings: PlacementSettings,
  _cache: PlacementCache,
): Steps<Placement> {
  yield;
  return noPlacement;
}
