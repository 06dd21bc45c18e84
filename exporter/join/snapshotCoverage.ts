/** Which parts of the data were available. */
export interface SnapshotCoverage {
  /** Objects of the Kubernetes API were read (at least nodes and pods). */
  readonly objects: boolean;
  /** At least one telemetry page was read. */
  readonly telemetry: boolean;
  /** Nodes with GPUs whose number is unknown: left out of the accounts. */
  readonly uncountedNodes: readonly string[];
}
