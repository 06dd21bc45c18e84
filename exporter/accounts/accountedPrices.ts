import type { Analysis } from "../analysis/analysis.ts";

/** What a physical GPU costs per hour at a moment, by what is counted on it; 0 where nothing has a price, which adds nothing. */
export interface AccountedPrices {
  /** By index into `Snapshot.devices`. */
  readonly ofDevice: Float64Array;
  /** Of parts of GPUs that are no device, by the name of their node. */
  ofNode(node: string): number;
}

/** The prices of a moment, each looked up once for its node and not once for each accounting entry. */
export function accountedPrices({ snapshot, prices }: Pick<Analysis, "snapshot" | "prices">): AccountedPrices {
  const { byNode } = prices;
  const ofDevice = new Float64Array(snapshot.devices.length);
  const ofNode = (node: string): number => byNode.get(node)?.perGpuHour ?? 0;
  if (byNode.size === 0) return { ofDevice, ofNode };
  for (const { name, devices } of snapshot.nodes) {
    const price = ofNode(name);
    if (price > 0) for (const index of devices) ofDevice[index] = price;
  }
  return { ofDevice, ofNode };
}
