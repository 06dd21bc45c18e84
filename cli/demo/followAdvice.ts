import type { AdviceKind, AdviceStep, ApiRequest, Recommendation } from "../../exporter/model/recommendation.ts";
import type { RequestAnswer } from "./sendRequest.ts";

/** A person who does what is recommended. */
export interface AdviceFollower {
  /**
   * Continues the plans that were begun, and begins those whose need has been open for the delay. Of each plan, the requests of
   * the steps are sent exactly as they are, up to the first one after which something has to happen. A request that is refused
   * is passed over. Advice without steps becomes a question to the owners of its targets.
   */
  act(recommendations: readonly Recommendation[], now: number): Promise<void>;
  /** The number of plans that were begun, by kind. */
  readonly begun: ReadonlyMap<AdviceKind, number>;
  readonly requests: { readonly sent: number; readonly refused: number };
  /** Questions to owners, and how many of them let their work go. */
  readonly questions: { readonly asked: number; readonly agreed: number };
}

/** The API and the owners that a follower turns to. */
export interface FollowerOutside {
  /** Sends a request to the API of a simulated cluster. */
  write(request: ApiRequest): Promise<RequestAnswer>;
  /** Asks the owner of a target (`Kind namespace/name`) whether it may go. An owner who agrees has already deleted it. */
  ask(target: string): boolean;
}

interface OpenPlan {
  readonly need: string;
  steps: readonly AdviceStep[];
}

/** The least time between two questions about the same target, seconds. */
const askedEverySeconds = 86_400;

/**
 * The need that advice meets. The advice for a need may change while it is open, so the delay counts from when the need was
 * first seen.
 */
const needOf = ({ kind, beneficiary }: Recommendation): string => `${kind}/${beneficiary.kind}/${beneficiary.name}`;

/** Creates a follower that follows all advice after `delaySeconds`. */
export function createFollower({ write, ask }: FollowerOutside, delaySeconds: number): AdviceFollower {
  const begun = new Map<AdviceKind, number>();
  const requests = { sent: 0, refused: 0 };
  const questions = { asked: 0, agreed: 0 };
  const askedAt = new Map<string, number>();
  let openSince = new Map<string, number>();
  let plans: OpenPlan[] = [];

  async function goOn(plan: OpenPlan): Promise<void> {
    for (let [step, ...rest] = plan.steps; step !== undefined; [step, ...rest] = plan.steps) {
      plan.steps = rest;
      const { code } = await write(step.request);
      requests.sent += 1;
      // An object that is gone already is what a deletion wants: an autoscaler was faster.
      const isDone = code < 300 || (step.request.verb === "DELETE" && code === 404);
      if (!isDone) requests.refused += 1;
      else if (step.waitFor !== null) return;
    }
  }

  function askOwners({ kind, targets }: Recommendation, now: number): void {
    if (kind !== "release_idle") return;
    for (const target of targets) {
      if (now - (askedAt.get(target) ?? Number.NEGATIVE_INFINITY) < askedEverySeconds) continue;
      askedAt.set(target, now);
      questions.asked += 1;
      if (ask(target)) questions.agreed += 1;
    }
  }

  async function begin(one: Recommendation): Promise<void> {
    const plan: OpenPlan = { need: needOf(one), steps: one.steps };
    begun.set(one.kind, (begun.get(one.kind) ?? 0) + 1);
    plans.push(plan);
    await goOn(plan);
  }

  return {
    begun,
    requests,
    questions,
    async act(recommendations, now) {
      for (const plan of plans) await goOn(plan);
      plans = plans.filter(({ steps }) => steps.length > 0);
      const open = recommendations.filter(({ state }) => state === "open");
      openSince = new Map(open.map((one) => [needOf(one), openSince.get(needOf(one)) ?? now]));
      for (const one of open) {
        const need = needOf(one);
        if (now - (openSince.get(need) ?? now) < delaySeconds) continue;
        if (one.steps.length === 0) askOwners(one, now);
        else if (!plans.some((plan) => plan.need === need)) await begin(one);
      }
    },
  };
}
