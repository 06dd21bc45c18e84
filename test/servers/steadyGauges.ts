/** Recorded series that cannot be compared with those of a cluster with one replica. */
const aboutReplicas = /^(cluster:fairlead_replica(s|):|cluster:fairlead_working_replicas:|cluster_instance_pod:|test:)/;
/** Recorded series that say how Fairlead itself does: only that they are there. */
const ofTheProcess =
  /:fairlead_(cycle_duration_seconds|source_(up|age_seconds)|targets|problems|kubernetes_answer_seconds|build_info):/;
/** Rises of counters, and what is made of them. */
export const rises = /:increase|queue_wait_seconds:p/;
/** Means of a week, and what says since when something is so: they have seen what was before the play, or count by themselves. */
const longMemory = /:(mean|count|change)7d|:predicted|_owed|idle_node_/;
/** Quantiles of all evaluations so far; the first were before the play. */
export const quantiles = /_gpus:p95/;

/** Advice must last for three cycles before it is shown, and each replica counts its own: it is not compared. */
const advised = /^cluster_(recommendation|kind_state):/;

/** Whether a recorded series says what is so, whichever of two replicas is read: those that differ are documented (decisions/0014). */
export const isSteadyGauge = (name: string): boolean =>
  ![aboutReplicas, ofTheProcess, rises, quantiles, longMemory, advised].some((pattern) => pattern.test(name));
