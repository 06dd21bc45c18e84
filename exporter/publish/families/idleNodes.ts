import type { idleNodesMetrics } from "../../catalogue/idleNodes.ts";
import type { Producers } from "../family.ts";

export const idleNodesProducers: Producers<keyof typeof idleNodesMetrics> = {};
