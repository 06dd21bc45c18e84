/** The object of the API that was read, and the state of its spec then: a change to the object is made conditional on both. */
export interface ObjectRevision {
  /** Group and version in which it was read, such as `kueue.x-k8s.io/v1beta2`. */
  readonly apiVersion: string;
  readonly uid: string;
  /** `metadata.generation`, which every change of the spec raises; `null` where the API counts none. */
  readonly generation: number | null;
}
