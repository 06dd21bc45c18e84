import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const mostTries = 20;
const pauseMs = 5;

/**
 * Collects garbage until something that is held weakly is gone, or until it surely stays. A weak reference holds until the
 * current job is done, and what V8 compiles beside it holds what it looks at a little longer.
 */
export async function untilCollected(isGone: () => boolean): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collectGarbage: unknown = runInNewContext("gc");
  if (typeof collectGarbage !== "function") throw new Error("no gc");
  for (let tries = 0; tries < mostTries && !isGone(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    collectGarbage();
  }
}
