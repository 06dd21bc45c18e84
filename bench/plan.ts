/** One run of one question. */
export interface Step {
  /** The place of its answer in the results: `cycle@1000`. */
  readonly key: string;
  readonly script: string;
  readonly args: readonly string[];
  /** Additional flags of Node. */
  readonly nodeFlags?: readonly string[];
  /**
   * The form of the answer. `file`: the script has the command line of `question.ts`; `line`: it prints a line of JSON; `text`:
   * it prints lines for people.
   */
  readonly answer: "file" | "line" | "text";
}

const sizes = [100, 1000, 2500, 5000, 10_000] as const;

/** The largest cluster that one replica is expected to handle, in nodes. */
export const fullSize = 10_000;
/** The size of the short form, in nodes. */
export const shortSize = 1000;

const at = (question: string, nodes: number, samples: number): Step => ({
  key: `${question}@${nodes}`,
  script: `${question}.ts`,
  args: [`--nodes=${nodes}`, `--samples=${samples}`],
  answer: "file",
});

/** A step that measures only what the ratios need. */
const brief = (question: string, nodes: number, samples: number): Step => {
  const step = at(question, nodes, samples);
  return { ...step, args: [...step.args, "--short"] };
};

const alone = (question: string, answer: "line" | "text", ...args: readonly string[]): Step => ({
  key: question,
  script: `${question}.ts`,
  args,
  answer,
});

/**
 * MiB of heap in a container with the memory limit of docs/operations.md for so many nodes: Node takes half of a limit. Without
 * a bound it lets garbage lie for as long as the machine has memory, which no container has.
 */
const heapMiB = (nodes: number): number => (nodes <= 2500 ? 512 : nodes <= 5000 ? 768 : 1024);
const cycleAt = (nodes: number): Step => ({
  ...at("cycle", nodes, 7),
  nodeFlags: [`--max-old-space-size=${heapMiB(nodes)}`],
});

/** Everything, at all sizes. Steps run one by one, because two of them at the same time would disturb each other. */
export const fullPlan: readonly Step[] = [
  at("parse", fullSize / 10, 7),
  alone("pods", "line", "100000"),
  alone("ledgerSize", "text"),
  ...sizes.map(cycleAt),
  // Each page has two connections here, and a process may usually have 20,000 files open.
  at("receive", fullSize / 2, 7),
  at("prometheus", shortSize / 10, 7),
  at("prometheus", shortSize, 7),
  at("prometheus", fullSize, 7),
  at("kubeStateMetrics", shortSize / 10, 3),
  at("kubeStateMetrics", shortSize, 3),
  at("kubeStateMetrics", fullSize, 3),
  at("render", 1000, 7),
  at("render", 4000, 7),
  at("otlp", 1000, 7),
  at("metricsPage", fullSize, 7),
  at("scrapes", fullSize, 30),
  at("queues", fullSize, 7),
  at("placement", fullSize, 7),
  at("topology", fullSize, 7),
  at("advice", fullSize, 7),
];

/**
 * What continuous integration runs, which takes less than three minutes on a quiet machine. `metricsPage` is left out, because
 * its ratios are those of waiting times (`shortLimits`). `queues` and `advice` are only reported (`onlyReported`); they run
 * because they check their own answers.
 */
export const shortPlan: readonly Step[] = [
  brief("parse", shortSize / 2, 7),
  alone("pods", "line", "10000", "--short"),
  brief("cycleAndRules", shortSize, 5),
  brief("render", 1000, 5),
  brief("queues", 2 * shortSize, 3),
  brief("placement", 2 * shortSize, 9),
  brief("topology", 2 * shortSize, 9),
  brief("advice", 2 * shortSize, 3),
];
