import type { TextMap } from "./node.ts";

/** An alert as Alertmanager's webhook reports it, bounded. */
export interface ReceivedAlert {
  /** Alertmanager's own identity of the alert's labels. */
  readonly fingerprint: string;
  readonly status: "firing" | "resolved";
  readonly alertname: string;
  readonly labels: TextMap;
  /** Seconds since the epoch. */
  readonly startsAt: number;
  readonly endsAt: number | null;
}
