import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { NodePrice } from "../../exporter/analysis/prices/prices.ts";
import { entriesOf } from "../analysis/entriesOf.ts";
import { at, device, node, pod, smallMoment, workload } from "./moment.ts";

/** GPUs of one pod in the state `idle`. */
export interface IdlePart {
  readonly team: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly model: string;
  readonly gpus: number;
  /** For how long, seconds. */
  readonly seconds: number;
  /** For how long the pod has had them; default: longer. */
  readonly boundSeconds?: number;
  readonly estimated?: boolean;
  /** Price of a GPU-hour of its node; left out: nobody knows one. */
  readonly price?: { readonly currency: string; readonly perGpuHour: number };
  readonly state?: "idle" | "active";
}

/** A moment in which each part is one pod with one device of that weight; parts with one name are one workload. */
export function idleMoment(parts: readonly IdlePart[], now = at): Analysis {
  const names = [...new Set(parts.map(keyOf))];
  const isIdle = ({ state = "idle" }: IdlePart): boolean => state === "idle";
  const prices = parts.flatMap(({ price }, i) => (price === undefined ? [] : [[`n${i}`, priceOf(price)] as const]));
  const teams = [...new Set(parts.map(({ team }) => team))];
  return {
    ...smallMoment,
    snapshot: {
      ...smallMoment.snapshot,
      at: now,
      nodes: parts.map((_, i) => node({ name: `n${i}`, devices: [i] })),
      devices: parts.map((part, i) =>
        device({
          node: `n${i}`,
          uuid: `GPU-${i}`,
          model: part.model,
          weight: part.gpus,
          holders: [
            {
              pod: i,
              share: part.gpus,
              source: "dcgm",
              estimated: part.estimated ?? false,
              activity: 0,
              idleSince: isIdle(part) ? now - part.seconds : null,
            },
          ],
        }),
      ),
      pods: parts.map((part, i) =>
        pod({
          uid: `u${i}`,
          name: `${part.name}-${i}`,
          namespace: part.namespace ?? "ml",
          node: `n${i}`,
          team: part.team,
          gpus: part.gpus,
          workload: names.indexOf(keyOf(part)),
          boundAt: now - (part.boundSeconds ?? part.seconds + 3600),
        }),
      ),
      workloads: names.map((key) => {
        const pods = parts.flatMap((part, i) => (keyOf(part) === key ? [i] : []));
        const first = parts[pods[0] ?? 0];
        if (first === undefined) throw new Error("a workload without pods");
        const { team, kind = "Deployment", namespace = "ml", name } = first;
        return workload({ team, kind, namespace, name, pods });
      }),
    },
    accountingEntries: entriesOf(
      parts.map((part, i) => ({
        gpus: part.gpus,
        state: part.state ?? "idle",
        node: `n${i}`,
        pool: part.model,
        device: i,
        pod: i,
        estimated: part.estimated ?? false,
      })),
    ),
    teams: teams.map((team) => {
      const own = parts.filter((part) => part.team === team);
      const sum = (list: readonly IdlePart[]): number => list.reduce((gpus, part) => gpus + part.gpus, 0);
      return {
        team,
        allocated: sum(own),
        active: 0,
        utilization: 0,
        states: { idle: sum(own.filter(isIdle)), active: sum(own.filter((part) => !isIdle(part))) },
        estimated: sum(own.filter(({ estimated = false }) => estimated)),
        idleOptedOut: 0,
        pending: 0,
      };
    }),
    prices: { byNode: new Map(prices), groups: [] },
  };
}

const keyOf = ({ team, kind, namespace, name }: IdlePart): string => JSON.stringify([team, kind, namespace, name]);

const priceOf = ({ currency, perGpuHour }: NonNullable<IdlePart["price"]>): NodePrice => ({
  perGpuHour,
  perNodeHour: perGpuHour,
  currency,
  basis: "whole-instance",
  source: "file",
  capacityType: "on-demand",
  date: at,
  isStale: false,
  origin: "",
});
