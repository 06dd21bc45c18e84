import type { Config } from "../../config/schema.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import { nothingPriced, type Prices } from "./prices.ts";

/** The settings that prices are found by. */
export type PriceSettings = Pick<Config["prices"], "basis" | "staleDays">;

/** Finds the price of every counted node in the price book of the moment. Pure. */
export function* priceNodesInSteps(_snapshot: Snapshot, _settings: PriceSettings): Steps<Prices> {
  yield;
  return nothingPriced;
}
