import type { costMetrics } from "../../catalogue/cost.ts";
import type { Producers } from "../family.ts";

export const costProducers: Producers<keyof typeof costMetrics> = {};
