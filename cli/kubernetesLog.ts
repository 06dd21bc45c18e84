import type { KubernetesSourceOptions } from "../exporter/sources/kubernetes/kubernetesSource.ts";

/** A log with the levels of lines about the Kubernetes API, such as one of `pino`. */
export interface LevelLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * One line for each change of a kind's state, and for each list or watch that is begun anew, with its reason. A restart is
 * reported at level info only if everything is listed again: watches are opened again all day, and a list that fails is a
 * change of state.
 */
export function createKubernetesLog(
  log: LevelLog,
): Required<Pick<KubernetesSourceOptions, "onStateChange" | "onRestart">> {
  return {
    onStateChange: (change) =>
      log[change.to === "synced" ? "info" : "warn"](
        { source: "kubernetes", ...change },
        `${change.kind}: ${change.from} -> ${change.to}`,
      ),
    onRestart: ({ kind, reason, message }) => {
      const fields = { source: "kubernetes", kind, reason, message };
      if (reason === "expired" || reason === "malformed") log.info(fields, `${kind}: listed again (${reason})`);
      else
        log.debug(fields, `${kind}: ${reason === "token-expired" ? "the list" : "the watch"} begins again (${reason})`);
    },
  };
}
