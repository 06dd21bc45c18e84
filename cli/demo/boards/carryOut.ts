import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { counted } from "../../../exporter/publish/advice/adviceWords.ts";
import { askOwner } from "../askOwner.ts";
import { createFollower, type FollowerOutside } from "../followAdvice.ts";
import type { PlayedCluster } from "../playCluster.ts";
import { sendRequest } from "../sendRequest.ts";

/** Carries out advice when someone asks for it. */
export interface AdviceDoer {
  /** Begins a plan, or asks the owners. Resolves with a sentence about what came of it. */
  begin(one: Recommendation, now: number): Promise<string>;
  /** Takes the next steps of plans that wait for something to happen. */
  goOn(now: number): Promise<void>;
}

/** Whether a recommendation can be carried out: it is open and has steps, or owners who can be asked. */
export const canBeDone = ({ state, steps, kind }: Recommendation): boolean =>
  state === "open" && (steps.length > 0 || kind === "release_idle");

/** Where the advice on a simulated cluster is carried out: its API, and the owners of its work. */
export function outsideOf({ simulator }: PlayedCluster): FollowerOutside {
  return {
    write: (request) => sendRequest(simulator.apiUrl, request),
    ask: (target) => askOwner(simulator, target),
  };
}

/** Creates a doer that carries out advice at once, one recommendation after another. */
export function createAdviceDoer(outside: FollowerOutside): AdviceDoer {
  const follower = createFollower(outside, 0);
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  const sums = () => ({ ...follower.requests, ...follower.questions });
  return {
    begin: (one, now) =>
      inTurn(async () => {
        const before = sums();
        await follower.act([one], now);
        const after = sums();
        const [sent, refused] = [after.sent - before.sent, after.refused - before.refused];
        const [asked, agreed] = [after.asked - before.asked, after.agreed - before.agreed];
        if (sent > 0) {
          const answered = refused === 0 ? "The API accepted all of them." : `The API refused ${refused} of them.`;
          return `${counted(sent, "request")} sent. ${answered}`;
        }
        if (asked > 0)
          return `${counted(asked, "owner")} asked: ${agreed} let the work go, the others want to keep it.`;
        return one.steps.length > 0
          ? "It is already being carried out."
          : "The owners were asked less than a day ago (of simulated time).";
      }),
    goOn: (now) => inTurn(() => follower.act([], now)),
  };
}
