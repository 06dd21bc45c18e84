import { fromReplica, series, type WorldSeries } from "../world.ts";
import type { AlertTable } from "./alertTable.ts";

interface ReplicaValues {
  readonly cycles: string;
  readonly build: string;
  readonly up: string;
}

/** How many replicas there should be; the one that every world has sees the cluster. */
function wanted(cluster: string, replicas: number): readonly WorldSeries[] {
  return [
    series("fairlead_replicas", { cluster }, replicas),
    series("fairlead_source_up", { cluster, source: "kubernetes" }, 1),
  ];
}

/** Another replica beside that one. */
function replica(number: number, cluster: string, { cycles, build: info, up }: ReplicaValues): readonly WorldSeries[] {
  return [
    series("fairlead_build_info", { cluster, version: "1", node_version: "24" }, info),
    series("fairlead_last_cycle_timestamp_seconds", { cluster }, cycles),
    series("fairlead_source_up", { cluster, source: "kubernetes" }, up),
  ].map((one) => fromReplica(number, one));
}

/** Whether there are as many replicas as there should be. */
export const replicaTables: readonly AlertTable[] = [
  {
    alert: "GpuExporterReplicaMissing",
    severity: "warning",
    area: "exporter",
    action: "ticket",
    summary: "Fewer replicas of Fairlead work than its configuration says.",
    step: "1m",
    firesAt: 20,
    quietAt: 19,
    world: [
      // Of two in east one is gone after ten minutes; of three in west one has no fresh cycle from then on, one sees no cluster.
      ...wanted("east", 2),
      ...replica(1, "east", { cycles: "0+60x9 stale", build: "1+0x9 stale", up: "1+0x9 stale" }),
      ...wanted("west", 3),
      ...replica(1, "west", { cycles: "0+60x8 480+0x#", build: "1+0x#", up: "1+0x#" }),
      ...replica(2, "west", { cycles: "0+60x#", build: "1+0x#", up: "1+0x9 0+0x#" }),
    ],
    quiet: {
      "the only one is missed by another alert": [series("fairlead_replicas", { cluster: "north" }, 1)],
      "both are there": [
        ...wanted("east", 2),
        ...replica(1, "east", { cycles: "-90+60x#", build: "1+0x#", up: "1+0x#" }),
      ],
      "more than there should be": [
        ...wanted("east", 2),
        ...replica(1, "east", { cycles: "0+60x#", build: "1+0x#", up: "1+0x#" }),
        ...replica(2, "east", { cycles: "0+60x#", build: "1+0x#", up: "1+0x#" }),
      ],
      "none is left, which another alert says": [
        series("fairlead_replicas", { cluster: "north" }, "2+0x9 stale"),
        ...replica(1, "north", { cycles: "0+60x9 stale", build: "1+0x9 stale", up: "1+0x9 stale" }),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east" },
        description:
          "1 of the replicas of Fairlead in east is missing: gone, without a fresh cycle, or without the Kubernetes API.",
        advice: null,
        dashboard: "fairlead-exporter?var-cluster=east",
      },
      {
        labels: { cluster: "west" },
        description:
          "2 of the replicas of Fairlead in west are missing: gone, without a fresh cycle, or without the Kubernetes API.",
        advice: null,
        dashboard: "fairlead-exporter?var-cluster=west",
      },
    ],
  },
];
