import { cost } from "./cost.ts";
import type { DashboardDefinition } from "./dashboard.ts";
import { fairness } from "./fairness.ts";
import { fleet } from "./fleet.ts";
import { health } from "./health.ts";
import { review } from "./review.ts";
import { team } from "./team.ts";
import { waste } from "./waste.ts";

/** All dashboards, in the order of the links between them: from the whole to the parts. */
export const dashboardList: readonly DashboardDefinition[] = [fleet, team, fairness, waste, cost, review, health];
