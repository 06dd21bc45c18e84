import type { pricesMetrics } from "../../catalogue/prices.ts";
import type { Producers } from "../family.ts";

export const pricesProducers: Producers<keyof typeof pricesMetrics> = {};
