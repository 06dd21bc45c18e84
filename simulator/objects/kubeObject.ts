export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
  readonly blockOwnerDeletion?: true;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

/** An object as the API shows it, without kind and apiVersion (the server adds them where a real one would). */
export interface KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: object;
  readonly status?: object;
  /** The value of a PriorityClass. */
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: string;
}

/** One object with the kind that says where it belongs. */
export interface KindedObject {
  readonly kind: string;
  readonly object: KubeObject;
}

/** A time in seconds since the epoch as Kubernetes writes it. */
export function timestamp(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The field `labels`, to be spread into an object: absent when there are no labels. */
export function labelsField(labels: Readonly<Record<string, string>>): { readonly labels?: typeof labels } {
  return Object.keys(labels).length === 0 ? {} : { labels };
}

/** The field `annotations`, to be spread into an object: absent when there are none. */
export function annotationsField(values: Readonly<Record<string, string>>): { readonly annotations?: typeof values } {
  return Object.keys(values).length === 0 ? {} : { annotations: values };
}
