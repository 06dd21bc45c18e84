import type { SimulatedCluster } from "../../simulator/simulatedCluster.ts";

/**
 * Asks the owner of a target (`Kind namespace/name`) of a simulated cluster whether it may go. He says yes, and deletes it,
 * only when he will really never work with it again.
 */
export function askOwner(cluster: SimulatedCluster, target: string): boolean {
  const [kind = "", namespace = "", name = ""] = target.split(/[ /]/);
  const work = cluster
    .truth()
    .works.find((one) => one.kind === kind && one.namespace === namespace && one.name === name);
  return work !== undefined && work.worksAgainAt === null && cluster.letGo(namespace, name);
}
