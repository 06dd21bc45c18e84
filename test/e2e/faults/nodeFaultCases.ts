import type { FaultCase } from "../faultCases.ts";

const node = "h100-01";

const sickGpu = {
  states: [{ node, state: "unavailable", gpus: 1 }],
  series: { 'fairlead_sick_gpu_gpus{tier="drain",cause="ecc"}': 1 },
  truth: "all",
} as const;

const wellGpu = {
  states: [{ node, state: "unavailable", gpus: 0 }],
  series: { fairlead_sick_gpu_gpus: null },
  truth: "all",
} as const;

/** Faults of nodes, GPUs, and of the clock. */
export const nodeFaultCases: readonly FaultCase[] = [
  {
    name: "a node is lost",
    faults: [{ kind: "node-lost", node }],
    early: {
      steps: 1,
      problems: [
        {
          code: "target-reset",
          subjects: [node],
          says: "its page of 30 s ago is still used",
          next: "Ask the same URL by hand (curl) from Fairlead's pod",
        },
      ],
      series: { 'fairlead_nodes{state="not_ready"}': 1 },
      truth: "all",
    },
    late: {
      steps: 11,
      problems: [
        {
          code: "target-reset",
          subjects: [node],
          says: "the activity of its GPUs is unknown",
          next: "Ask the same URL by hand (curl) from Fairlead's pod",
        },
      ],
      states: [{ node, state: "unavailable", gpus: 8 }],
      series: { 'fairlead_nodes{state="not_ready"}': 1, 'fairlead_targets{state="stale"}': 1 },
      truth: "all",
    },
    does: "counts what its pods hold as before, as `unobserved` once the last page is too old, and as `unavailable` after five minutes",
  },
  {
    name: "a GPU falls off the bus",
    faults: [{ kind: "gpu-lost", node, physicalGpu: 0 }],
    early: { steps: 1, problems: [], states: [{ node, state: "unavailable", gpus: 1 }], truth: "all" },
    late: {
      steps: 4,
      problems: [
        {
          code: "gpu-count-conflict",
          subjects: [node],
          says: "label nvidia.com/gpu.count says 8 GPUs, GPU resources says 7",
          next: "Compare with `nvidia-smi -L` on the node",
        },
      ],
      states: [{ node, state: "unavailable", gpus: 1 }],
      truth: "all",
    },
    does: "keeps counting the GPU while the node has not been booted again, as `unavailable`; its pod still holds it",
    todo: "Drain and repair the node.",
  },
  {
    name: "a GPU has an uncorrectable memory error (XID 48)",
    faults: [{ kind: "gpu-xid", node, physicalGpu: 0, code: 48 }],
    early: { steps: 1, problems: [], ...sickGpu },
    late: { steps: 4, problems: [], ...sickGpu },
    does: "counts the GPU as `unavailable` with cause `ecc` from when the API takes it out, whatever its page still shows; its pod still holds it",
    todo: "Drain the node and reset the GPU ([gpu-health.md](gpu-health.md)).",
  },
  {
    name: "a job ends with an XID error of its own (XID 31)",
    faults: [{ kind: "gpu-xid", node, physicalGpu: 0, code: 31 }],
    early: { steps: 1, problems: [], ...wellGpu },
    late: { steps: 4, problems: [], ...wellGpu },
    does: "loses no time: the error blames the application, not the GPU",
    todo: "Look at the job's log.",
  },
  {
    name: "a GPU is slowed down by heat",
    faults: [{ kind: "gpu-slowed", node, physicalGpu: 0, reasons: 0x40, watts: 150 }],
    early: { steps: 1, problems: [], ...wellGpu },
    late: { steps: 4, problems: [], ...wellGpu },
    does: "counts the time as slowed down by heat where the exporter reports clock event reasons, and knows nothing of it with the default counters, as here",
    todo: "Let the exporter report `DCGM_FI_DEV_CLOCKS_EVENT_REASONS` ([gpu-health.md](gpu-health.md)).",
  },
  {
    name: "the power limit of a GPU is lowered",
    faults: [{ kind: "gpu-capped", node, physicalGpu: 0, watts: 300 }],
    early: { steps: 1, problems: [], ...wellGpu },
    late: { steps: 4, problems: [], ...wellGpu },
    does: "loses no time; a limit that the page shows also lowers the power up to which a GPU is `stalled`",
  },
  {
    name: "a process that no pod owns uses a GPU",
    faults: [{ kind: "stray-process", node: "h100-08", physicalGpu: 0, activity: 0.5 }],
    early: {
      steps: 1,
      problems: [],
      states: [{ node: "h100-08", state: "unattributed", gpus: 1 }],
      truth: "all",
    },
    late: {
      steps: 4,
      problems: [],
      states: [{ node: "h100-08", state: "unattributed", gpus: 1 }],
      grown: ['fairlead_gpu_seconds_total{state="unattributed"}'],
      truth: "all",
    },
    does: "counts the GPU as `unattributed`, until it has been quiet for 30 minutes",
    todo: "Look for host processes and for pods with `NVIDIA_VISIBLE_DEVICES=all` on the node.",
  },
  ...([7200, -7200] as const).map(
    (seconds): FaultCase => ({
      name: `the wall clock is set ${seconds > 0 ? "ahead" : "back"} by two hours`,
      faults: [{ kind: "clock-jump", seconds }],
      early: {
        steps: 1,
        problems: [
          {
            code: "clock-jump",
            subjects: [null],
            says: `The wall clock was set 7200 s ${seconds > 0 ? "ahead" : "back"}`,
            next: "Check time synchronisation (NTP) on the node that Fairlead runs on",
          },
        ],
        grown: ['fairlead_uncovered_seconds_total{reason="clock-jump"}'],
        truth: "all",
      },
      late: { steps: 1, problems: [], grown: ['fairlead_uncovered_seconds_total{reason="clock-jump"}'], truth: "all" },
      // It is set back at the end.
      times: 2,
      does: "leaves the one step out and counts it as uncovered; ages, back-off and idle times go by a clock that is never set",
    }),
  ),
];
