/**
 * Why a goal was missed, and what follows from that, by the goal's id. The texts are written by hand and printed beside the
 * figure.
 */
export const reasons: Readonly<Record<string, string>> = {
  cycle:
    "Of the figure beside, receiving the pages and throwing them away is 0.2, and parsing them (parse, times 10,000) another 0.1; taking the changes of 1 % of the pods and writing the page is 0.14 more. Since it was recorded the numbers of readings became columns and devices views of their nodes' bindings: by turns on one machine of another make, advice included, a cycle then took 0.80 of the CPU time that it took before (2,348 ms against 2,948 ms), and its scavenges 0.54 of theirs. What is left are dozens of walks over 80,000 devices, 160,000 accounting entries and 100,000 pods: of the main thread's time in join, analyse and accrue the largest function takes 6 %, and the garbage collector a fifth.",
  join: "Readings are columns and devices are views; the join of a node whose inputs did not change is kept, but activity, states and the accounting entries of every device are found again in each cycle, because telemetry moves all of them, and so are the sums of queues and teams, because the index of a pod moves with each pod before it. Accounting entries are half of what a cycle leaves to the garbage collector together with devices; entries as columns would save 56 bytes of 96 each, for a getter at each of eight walks. By turns both stages took 0.91 of the time that they took before (839 ms against 922 ms).",
  "parse-npm":
    "All rows of wanted families are read, because a row proves that a device and its pod exist; skipping the families that are not wanted would reach it and lose devices. The goal against newlines is reached.",
  queues:
    "Reached with four flavors while each was divided alone. Now eight flavors are judged, with work that may go to several: all that such work connects is divided as one flow (docs/decisions/0016), and each cause of a shortfall is a division of its own. Waiting gangs that ask for the same in one queue are placed with what was found once for all of them, amounts of queues are columns while they are divided, and which nodes a quota counts over, and where work may wait, is found again only when that changes. What is left has no large part: no function takes a twentieth of the CPU time by itself. Of the time of the main thread, garbage aside, judging fairness takes almost half (what a queue is entitled to depends on all others of its tree, so that one change is a change for all), why each gang waits a seventh, finding Workloads and where they wait a quarter; garbage of 18,000 queue records and of the flow networks is added to that.",
  "gpu-bytes":
    "By a sampled heap, 904 bytes are the moment (a device, its holding, two accounting entries, a reading and what is added up from them), 950 the binding of its node, 540 the shape of its page (labels, claimants), beside 375 for the page's label blocks, byte by byte: a hash of them would let an exporter that lies pass for another device. The rest are views of pods and workloads, connections and what advice watches. By turns it went from 5,206 to 4,431 bytes, the caches of advice included.",
  rss: "Follows from the bytes per GPU, and from garbage that Node lets lie on a machine with much memory: 730 MiB with the heap bounded as by a container (docs/soak.md), 520 MiB at 5,000 nodes. By turns it went from 917 to 834 MiB since this was recorded, and from 973 to 814 MiB an hour before.",
  "page-cycle":
    "Between 0.95 and 1.59 in six runs within an hour, with a median of 1.20: a p99 of two servers on two cores that also carry the cycle, exporters, API and client says no more.",
  "placement-changed":
    "What changed is all that is judged and added up anew; what is left is walking over all nodes and pods once to see what changed, and over the free places of each pool for its other measures. The bench collects garbage before each sample, which costs a short piece its warm code.",
  "advice-quiet":
    "Two things are done though nothing waits: what every workload uses of its devices is watched, and pods are looked for whose move would free a whole node, which is bounded by tries and pools; for that the nodes of a pool and what is on them are put in an order, which asks for most where everything is as old as everything else.",
  "advice-contended":
    "Each plan that is offered is simulated under both placement rules, with what everyone is entitled to afterwards. The number of tries is bounded, not their cost: one try looks at whole workloads of the queues that borrow.",
};
