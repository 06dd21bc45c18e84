/** A finding that a user must be shown, word for word. `DIR` is the folder with the case's files. */
export interface Finding {
  readonly message: string;
  readonly nextStep: string;
}

/** A dump for `fairlead inspect`, run once for the table and once for the JSON document. */
export interface DumpCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Problems that must be there, among others. */
  readonly findings: readonly Finding[];
  /** Text of the table that proves that the good part of the dump is still reported. */
  readonly shows?: readonly string[];
  /** How many devices (GPUs, MIG instances, replicas) the JSON document must hold. */
  readonly devices?: number;
  /** Activity of the first device; `null` when the page does not say. */
  readonly activity?: number | null;
  /** Text that must be in neither output. */
  readonly absent?: readonly string[];
}

/** A command line that ends before anything is started. */
export interface CommandCase {
  readonly name: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly args: readonly string[];
  readonly code: 0 | 1 | 2;
  /** Lines of standard error (or output, with code 0), in order; white space counts as one blank. */
  readonly says: readonly string[];
}
