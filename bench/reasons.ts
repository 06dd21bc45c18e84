/**
 * Why a goal was missed, and what follows from that, by the goal's id. The texts are written by hand and printed beside the
 * figure.
 */
export const reasons: Readonly<Record<string, string>> = {
  cycle:
    "Reached until the cycle also looked for advice. Side by side on one machine, in one hour, it took 0.98 without and 1.12 to 1.15 with it: a tenth of a second for the stage itself (without queues), the rest for the facts of pods and owners that advice needs, in join, and for the garbage of a larger heap in all stages.",
  join: "Snapshot, devices and accounting entries are plain objects that are made again in each cycle (80,000 devices, 160,000 entries): allocation and garbage collection lead the profile, then binding the nodes on which a pod changed. Columns would reach the goal and change the contract of every analysis.",
  "parse-npm":
    "All rows of wanted families are read, because a row proves that a device and its pod exist; skipping the families that are not wanted would reach it and lose devices. The goal against newlines is reached.",
  queues:
    "Reached with four flavors while each was divided alone. Now eight flavors are judged, with work that may go to several: all that such work connects is divided as one flow (docs/decisions/0016), and each cause of a shortfall is a division of its own. Waiting gangs that ask for the same in one queue are placed with what was found once for all of them, amounts of queues are columns while they are divided, and which nodes a quota counts over is found again only when it changes. What is left has no large part: no function takes a twentieth of the CPU time by itself; a third of it is garbage collection, since 18,000 queue records and 50,000 waiting gangs are made anew each cycle.",
  "gpu-bytes":
    "A reading, a device with its holdings, two accounting entries and the binding of a GPU are objects, and the snapshot before is kept for the accounting; the telemetry source alone keeps 1.1 KB.",
  rss: "Follows from the bytes per GPU, and from garbage that Node lets lie on a machine with much memory: 730 MiB with the heap bounded as by a container (docs/soak.md), 520 MiB at 5,000 nodes.",
  "page-cycle":
    "Between 0.95 and 1.59 in six runs within an hour, with a median of 1.20: a p99 of two servers on two cores that also carry the cycle, exporters, API and client says no more.",
  "placement-changed":
    "What changed is all that is judged and added up anew; what is left is walking over all nodes and pods once to see what changed, and over the free places of each pool for its other measures. The bench collects garbage before each sample, which costs a short piece its warm code.",
  "advice-quiet":
    "Two things are done though nothing waits: what every workload uses of its devices is watched, and pods are looked for whose move would free a whole node, which is bounded by tries and pools; for that the nodes of a pool and what is on them are put in an order, which asks for most where everything is as old as everything else.",
  "advice-contended":
    "Each plan that is offered is simulated under both placement rules, with what everyone is entitled to afterwards. The number of tries is bounded, not their cost: one try looks at whole workloads of the queues that borrow.",
};
