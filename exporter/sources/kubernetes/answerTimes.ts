import type { ApiClient } from "./apiClient.ts";
import type { Clock } from "./clock.ts";

/** A slow answer is reported for this long, so that a fast one right after it does not hide it. */
const rememberedSeconds = 120;

/**
 * How long the API server takes to answer: only what is waited for idly. An answer that arrives while a large list is decoded,
 * or while Fairlead's pod gets no CPU, waits for Fairlead, and the API server must not be blamed for that.
 */
export interface AnswerTimes {
  /** The same client, but its answers are timed: a whole GET, or the opening of a stream. */
  readonly client: ApiClient;
  /** Idle seconds of the slowest answer of the last two minutes, including one that is under way; `null` without any. */
  slowestSeconds(): number | null;
}

/** Measures the answer times of a client. */
export function timeAnswers(client: ApiClient, clock: Clock): AnswerTimes {
  /** The newest answer is last, and each is slower than all after it, so the first that is young enough is the slowest. */
  let answers: { readonly endedAt: number; readonly seconds: number }[] = [];
  const underWay = new Set<{ readonly idleBefore: number }>();

  const note = (seconds: number): void => {
    const endedAt = clock.monotonic();
    answers = answers.filter((answer) => answer.seconds > seconds && endedAt - answer.endedAt <= rememberedSeconds);
    answers.push({ endedAt, seconds });
  };
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const request = { idleBefore: clock.idle() };
    underWay.add(request);
    try {
      return await work();
    } finally {
      underWay.delete(request);
      note(clock.idle() - request.idleBefore);
    }
  };
  return {
    client: {
      get: (path, options) => timed(() => client.get(path, options)),
      open: (path, options) => timed(() => client.open(path, options)),
      close: client.close,
    },
    slowestSeconds: () => {
      const [now, idle] = [clock.monotonic(), clock.idle()];
      const waiting = [...underWay].map(({ idleBefore }) => idle - idleBefore);
      const young = answers.filter(({ endedAt }) => now - endedAt <= rememberedSeconds);
      const all = [...waiting, ...young.map(({ seconds }) => seconds)];
      return all.length === 0 ? null : Math.max(...all);
    },
  };
}
