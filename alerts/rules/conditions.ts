import type { AlertName } from "../alertList.ts";
import { capacityConditions } from "./capacity.ts";
import { costConditions } from "./cost.ts";
import { exporterConditions } from "./exporter.ts";
import { fairnessConditions } from "./fairness.ts";
import type { Conditions } from "./recorded.ts";
import { wasteConditions } from "./waste.ts";

/** The expression and description of every alert. */
export const conditions: Conditions<AlertName> = {
  ...fairnessConditions,
  ...wasteConditions,
  ...costConditions,
  ...capacityConditions,
  ...exporterConditions,
};
