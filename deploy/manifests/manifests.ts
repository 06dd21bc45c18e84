import { configMap, pricesConfigMap } from "./configMaps.ts";
import { dashboardConfigMap } from "./dashboards.ts";
import type { Manifest } from "./manifest.ts";
import { prometheusRule, serviceMonitor } from "./monitoring.ts";
import { networkPolicy } from "./networkPolicy.ts";
import { clusterRole, clusterRoleBinding, configMapRoles } from "./rbac.ts";
import { reviewClaim, reviewConfigMap, reviewCronJob } from "./review.ts";
import { podDisruptionBudget, replicasService, service, serviceAccount } from "./services.ts";
import { statefulSet } from "./statefulSet.ts";

/** All objects, in the order in which they are applied. `dashboards`: uids of the dashboards. */
export function manifestsWith(dashboards: readonly string[]): readonly Manifest[] {
  return [
    serviceAccount,
    clusterRole,
    clusterRoleBinding,
    ...configMapRoles,
    configMap,
    pricesConfigMap,
    service,
    replicasService,
    networkPolicy,
    podDisruptionBudget,
    statefulSet,
    serviceMonitor,
    prometheusRule,
    ...dashboards.map(dashboardConfigMap),
    reviewClaim,
    reviewConfigMap,
    reviewCronJob,
  ];
}
