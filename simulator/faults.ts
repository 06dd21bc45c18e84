/** The exporters that a fault hits: the one of the named node, or all. */
export type ExporterTarget = { readonly node: string } | "all";

/** What a hostile page tries: GPUs of other nodes, text that breaks formats, or sheer size. */
export type HostileContent = "foreign-devices" | "label-injection" | "huge";

/** Something that goes wrong while it is switched on. */
export type Fault =
  /** The page comes after `delayMs` of real time. */
  | { readonly kind: "exporter-slow"; readonly target: ExporterTarget; readonly delayMs: number }
  | { readonly kind: "exporter-error"; readonly target: ExporterTarget }
  /** The page is answered with 200 and an empty body, as during a reload. */
  | { readonly kind: "exporter-empty"; readonly target: ExporterTarget; readonly endsWithRestart?: boolean }
  | { readonly kind: "exporter-garbage"; readonly target: ExporterTarget }
  /** A page with hostile content; `megabytes` bounds `huge` (default 8). */
  | {
      readonly kind: "exporter-hostile";
      readonly target: ExporterTarget;
      readonly content: HostileContent;
      readonly megabytes?: number;
    }
  /** The host engine is lost: values stay as they were, with status 200. */
  | { readonly kind: "exporter-frozen"; readonly target: ExporterTarget; readonly endsWithRestart?: boolean }
  | { readonly kind: "exporter-reset"; readonly target: ExporterTarget }
  /** Profiling fields are 0 while GPU_UTIL goes on. */
  | { readonly kind: "profiling-stuck"; readonly target: ExporterTarget }
  /**
   * The node's condition Ready turns Unknown, its exporter cannot be reached, its pods stay in the API, and nothing computes
   * there.
   */
  | { readonly kind: "node-lost"; readonly node: string }
  /** A GPU falls off the bus: it is gone from the page, `allocatable` falls at once, capacity 60 s later, and its pod stays. */
  | { readonly kind: "gpu-lost"; readonly node: string; readonly physicalGpu: number }
  /**
   * A GPU reports an XID error; it is reset when the fault is switched off. If the error is not one of the application (13, 31,
   * 43, 45, 68, 109), the device plugin takes the GPU out of `allocatable`, the kubelet reports it to its pod as `Unhealthy`
   * (the DRA driver taints the device), and the work on it stops, unless only a row waits to be remapped (63).
   */
  | { readonly kind: "gpu-xid"; readonly node: string; readonly physicalGpu: number; readonly code: number }
  /**
   * A GPU is slowed down: it shows these clock event reasons and draws at most `watts`. The work on it goes on, and is as busy
   * as before.
   */
  | {
      readonly kind: "gpu-slowed";
      readonly node: string;
      readonly physicalGpu: number;
      readonly reasons: number;
      readonly watts: number;
    }
  /** The power limit of a GPU is lowered to `watts`; while work would draw more, it shows a software power cap. */
  | { readonly kind: "gpu-capped"; readonly node: string; readonly physicalGpu: number; readonly watts: number }
  /** A process that no pod owns keeps a GPU busy at this ratio, but only while no pod holds the GPU. */
  | { readonly kind: "stray-process"; readonly node: string; readonly physicalGpu: number; readonly activity: number }
  /** Cuts every open watch once, when it is switched on. */
  | { readonly kind: "api-watch-cut" }
  /** The next watch of each resource that names a resourceVersion gets the event ERROR with code 410. */
  | { readonly kind: "api-gone" }
  /** Continue tokens are answered with 410. */
  | { readonly kind: "api-continue-expired" }
  /** Requests for `resource` are refused with 403; it is the name in the URL (`pods`, `resourceslices`). */
  | { readonly kind: "api-forbidden"; readonly resource: string }
  /** Answers come after `delayMs` of real time. */
  | { readonly kind: "api-slow"; readonly delayMs: number }
  /** LIST is answered with 500, for one resource or for all. */
  | { readonly kind: "api-list-error"; readonly resource?: string }
  /** The wall clock of the cluster differs by this many seconds. */
  | { readonly kind: "clock-jump"; readonly seconds: number };

/** The faults that are on. */
export interface FaultBoard {
  on(fault: Fault): () => void;
  active(): ReadonlySet<Fault>;
  /**
   * Notes that the exporter's pod on this node was replaced: faults of this node alone that a restart fixes (`endsWithRestart`)
   * are over.
   */
  restarted(node: string): void;
}

/** Creates a board without faults. `changed` runs after a fault was switched on or off. Switching off twice does nothing. */
export function createFaultBoard(changed: (fault: Fault, on: boolean) => void): FaultBoard {
  const active = new Set<Fault>();
  return {
    on(fault) {
      // A copy lets the same fault value be on twice, and each be switched off alone.
      const entry = { ...fault };
      active.add(entry);
      changed(entry, true);
      return () => {
        if (active.delete(entry)) changed(entry, false);
      };
    },
    active: () => active,
    restarted(node) {
      for (const fault of active) {
        const isFixed =
          (fault.kind === "exporter-empty" || fault.kind === "exporter-frozen") && fault.endsWithRestart === true;
        if (isFixed && fault.target !== "all" && fault.target.node === node && active.delete(fault))
          changed(fault, false);
      }
    },
  };
}

/** The faults of one kind that are on, with the type of this kind. */
export function faultsOf<K extends Fault["kind"]>(board: FaultBoard, kind: K): readonly Extract<Fault, { kind: K }>[] {
  const found: Extract<Fault, { kind: K }>[] = [];
  for (const fault of board.active()) if (isKind(fault, kind)) found.push(fault);
  return found;
}

function isKind<K extends Fault["kind"]>(fault: Fault, kind: K): fault is Extract<Fault, { kind: K }> {
  return fault.kind === kind;
}

/** Whether an exporter fault hits this node. */
export function hits(target: ExporterTarget, node: string): boolean {
  return target === "all" || target.node === node;
}
