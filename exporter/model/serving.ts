/** Programs that answer requests on GPUs and publish how many they answered. */
export const servingServers = ["vllm", "sglang", "triton", "tgi", "nim", "dynamo"] as const;

export type ServingServer = (typeof servingServers)[number];

/** Tokens that a server counts: those that it reads, and those that it writes. */
export const tokenKinds = ["prompt", "generated"] as const;

/** What the counters of a server count. */
export const servedKinds = ["requests", "prompt", "generated"] as const;

/** One counter of one engine or model of a server. */
export interface ServingCounter {
  readonly counts: (typeof servedKinds)[number];
  /** What distinguishes the counter from the others of the page; untrusted text. */
  readonly key: string;
  readonly value: number;
}

/** Latencies that servers measure: until the first token of an answer, and from each token to the next. */
export const latencyKinds = ["firstToken", "perToken"] as const;

export type LatencyKind = (typeof latencyKinds)[number];

/** One bucket of a histogram of one engine or model of a server. */
export interface LatencyBucket {
  readonly of: LatencyKind;
  /** What distinguishes the histogram from the others of the page; untrusted text. */
  readonly key: string;
  /** The upper bound of the bucket, seconds; that of the last one is infinite. */
  readonly bound: number;
  /** The number of observations within the bound since the server started. */
  readonly value: number;
}

/**
 * What the page of a server reports about requests, added up over its engines, models and data-parallel ranks. A number that
 * the page does not have is `null`: unknown, never 0.
 */
export interface ServingRecord {
  /** The servers whose metrics the page has, the outermost first: Triton before the vLLM that runs in it. */
  readonly servers: readonly ServingServer[];
  /** Requests that are being worked on now; `null` also where a server has no such gauge (Triton). */
  readonly running: number | null;
  /** Requests that are waiting now. */
  readonly waiting: number | null;
  /** Whether every gauge that its servers have is there and 0; `null` where one is missing. */
  readonly isEmpty: boolean | null;
  /** Requests that have ended since the server started, whatever their outcome; `null` without such a counter. */
  readonly finished: number | null;
  /** Tokens that the server has read and written since it started. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  /** The counters that `finished` and the tokens are sums of; absent: the sums themselves are counted. */
  readonly counters?: readonly ServingCounter[];
  /** The buckets of its histograms of latencies; absent: it has none. */
  readonly latencies?: readonly LatencyBucket[];
  /** Whether all its engines sleep, with their weights off the GPU; `null` if no engine reports it. */
  readonly isAsleep: boolean | null;
}

/** The record of one pod's page. A pod reports only about itself and about the pods that it works with. */
export interface ServingPage extends ServingRecord {
  /** Uid of the pod. */
  readonly pod: string;
  /** When the page came, seconds since the epoch. */
  readonly receivedAt: number;
}
