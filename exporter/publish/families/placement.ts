import type { placementMetrics } from "../../catalogue/placement.ts";
import type { Producers } from "../family.ts";

export const placementProducers: Producers<keyof typeof placementMetrics> = {};
