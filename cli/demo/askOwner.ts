import type { SimulatedCluster } from "../../simulator/simulatedCluster.ts";

/**
 * Asks the owner of a target (`Kind namespace/name`) in a simulated cluster whether it may go. The owner agrees, and deletes
 * it, only if they will really never work with it again. Returns whether the owner agreed.
 */
export function askOwner(cluster: SimulatedCluster, target: string): boolean {
  const [kind = "", namespace = "", name = ""] = target.split(/[ /]/);
  const work = cluster
    .truth()
    .works.find((one) => one.kind === kind && one.namespace === namespace && one.name === name);
  return work !== undefined && work.worksAgainAt === null && cluster.letGo(namespace, name);
}
