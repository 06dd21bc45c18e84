import { milliOf, type OpenbTrace } from "./openbTrace.ts";

/** The counts with which the paper describes the cluster. */
export interface CaseStudy {
  readonly jobs: number;
  readonly withGpu: number;
  readonly runningWithGpu: number;
  readonly pendingWithGpu: number;
  readonly allocatedMilli: number;
  readonly capacityMilli: number;
}

/** Counts jobs and GPUs of the trace as it is, without placing anything. Pure. */
export function caseStudyOf({ nodes, pods }: OpenbTrace): CaseStudy {
  const withGpu = pods.filter(({ gpus }) => gpus > 0);
  const running = withGpu.filter(({ phase }) => phase === "Running");
  return {
    jobs: pods.length,
    withGpu: withGpu.length,
    runningWithGpu: running.length,
    pendingWithGpu: withGpu.filter(({ phase }) => phase === "Pending").length,
    allocatedMilli: running.reduce((sum, pod) => sum + milliOf(pod), 0),
    capacityMilli: 1000 * nodes.reduce((sum, { gpus }) => sum + gpus, 0),
  };
}
