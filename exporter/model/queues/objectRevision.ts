/** Which object of the API was read, and at which state of its spec: what a change to it is made conditional on. */
export interface ObjectRevision {
  /** Group and version in which it was read, such as `kueue.x-k8s.io/v1beta2`. */
  readonly apiVersion: string;
  readonly uid: string;
  /** `metadata.generation`: another one after every change of the spec; `null` where the API counts none. */
  readonly generation: number | null;
}
