import type { AdviceKind, AdviceStep, Recommendation } from "../../exporter/model/recommendation.ts";
import { sendRequest } from "./sendRequest.ts";

/** Somebody who does what is recommended. */
export interface AdviceFollower {
  /**
   * Goes on with the plans that were begun, and begins those whose need has been open for the delay: the requests of their
   * steps, as they stand there, up to the first one after which something has to happen. What is refused is passed over.
   */
  act(recommendations: readonly Recommendation[], now: number): Promise<void>;
  /** Plans begun, by kind. */
  readonly begun: ReadonlyMap<AdviceKind, number>;
  readonly requests: { readonly sent: number; readonly refused: number };
}

interface OpenPlan {
  readonly need: string;
  steps: readonly AdviceStep[];
}

/** Advice for one need may change while it is open: who waits for it counts from its first sight. */
const needOf = ({ kind, beneficiary }: Recommendation): string => `${kind}/${beneficiary.kind}/${beneficiary.name}`;

/** Follows all advice after `delaySeconds`, against the API of a simulated cluster. */
export function createFollower(apiUrl: string, delaySeconds: number): AdviceFollower {
  const begun = new Map<AdviceKind, number>();
  const requests = { sent: 0, refused: 0 };
  let openSince = new Map<string, number>();
  let plans: OpenPlan[] = [];

  async function goOn(plan: OpenPlan): Promise<void> {
    for (let [step, ...rest] = plan.steps; step !== undefined; [step, ...rest] = plan.steps) {
      plan.steps = rest;
      const { code } = await sendRequest(apiUrl, step.request);
      requests.sent += 1;
      // What is gone already is what a deletion wants: an autoscaler was faster.
      const isDone = code < 300 || (step.request.verb === "DELETE" && code === 404);
      if (!isDone) requests.refused += 1;
      else if (step.waitFor !== null) return;
    }
  }

  return {
    begun,
    requests,
    async act(recommendations, now) {
      for (const plan of plans) await goOn(plan);
      plans = plans.filter(({ steps }) => steps.length > 0);
      const open = recommendations.filter(({ state }) => state === "open");
      openSince = new Map(open.map((one) => [needOf(one), openSince.get(needOf(one)) ?? now]));
      for (const one of open) {
        const need = needOf(one);
        if (now - (openSince.get(need) ?? now) < delaySeconds || plans.some((plan) => plan.need === need)) continue;
        const plan: OpenPlan = { need, steps: one.steps };
        begun.set(one.kind, (begun.get(one.kind) ?? 0) + 1);
        plans.push(plan);
        await goOn(plan);
      }
    },
  };
}
