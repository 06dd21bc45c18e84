import type { TelemetryPage } from "../../model/telemetry.ts";

/** Credentials of a listed target. Discovered targets get none unless TLS verifies them. */
export type TargetAuth =
  | { readonly kind: "none" }
  | { readonly kind: "bearer"; readonly tokenFile: string }
  | { readonly kind: "basic"; readonly username: string; readonly passwordFile: string };

/** One page to fetch. */
export interface ScrapeTarget {
  readonly url: string;
  /** The node it speaks for; `null` takes the page's host label (only for targets that the configuration lists). */
  readonly node: string | null;
  readonly auth: TargetAuth;
  readonly caFile: string | null;
  readonly insecureSkipVerify: boolean;
}

/** One-method port through which the DCGM source learns its targets each cycle. */
export type TargetProvider = () => readonly ScrapeTarget[];

export interface DcgmState {
  /** Last good page of every target that is young enough to be used. */
  readonly pages: readonly TelemetryPage[];
  readonly targets: number;
  readonly targetsUp: number;
}
