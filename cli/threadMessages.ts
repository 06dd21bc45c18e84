import type { MessagePort } from "node:worker_threads";
import type { Config } from "../exporter/config/schema.ts";
import type { FinishedStart } from "../exporter/publish/front/finished.ts";
import type { LevelLog } from "./kubernetesLog.ts";

/** What the exporter's thread is started with. */
export interface ThreadSettings {
  readonly config: Config;
  readonly telemetryPath: string;
  /** Users and bcrypt hashes of the web configuration: where there are none, nobody may write. */
  readonly users: Readonly<Record<string, string>>;
  /** The teams whose data alone a user may see, by user; absent: nobody's view is limited. */
  readonly teams?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The levels of log lines. */
export type LogLevel = keyof LevelLog;

/** What the exporter's thread sends to the thread that serves. */
export type FromExporter =
  /** A line for the log. */
  | {
      readonly kind: "log";
      readonly level: LogLevel;
      readonly fields: object;
      readonly message: string;
    }
  /** The exporter cannot start, and ends; `text` is for the user. */
  | { readonly kind: "refused"; readonly text: string }
  /** The exporter is able to start; `api` is the address of the Kubernetes API. */
  | { readonly kind: "prepared"; readonly api: string }
  /** The state of the exporter, whenever it has changed. */
  | { readonly kind: "state"; readonly lastCycleAt: number | null; readonly missing: readonly string[] }
  /** The page of a cycle. */
  | { readonly kind: "page"; readonly at: number; readonly page: Uint8Array }
  /** The start page, whenever it has changed. */
  | { readonly kind: "start"; readonly start: FinishedStart };

/** What is sent to the exporter's thread. */
export type ToExporter =
  | { readonly kind: "start" }
  /** Ends the exporter once it has written what it has to write. */
  | { readonly kind: "end" }
  /** A question, sent as HTTP through the port (`portStream`), and the user who asks it. */
  | { readonly kind: "ask"; readonly port: MessagePort; readonly user: string };
