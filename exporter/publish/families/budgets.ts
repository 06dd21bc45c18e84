import type { budgetsMetrics } from "../../catalogue/budgets.ts";
import type { Producers } from "../family.ts";

export const budgetsProducers: Producers<keyof typeof budgetsMetrics> = {};
