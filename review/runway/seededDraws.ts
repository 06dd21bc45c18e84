/** Random draws that are the same in every process, so that a review of the same ledger is always the same. */
export interface SeededDraws {
  /** Draws from the uniform distribution over [0, 1). */
  uniform(): number;
  /** Draws from the normal distribution with mean 0 and variance 1. */
  normal(): number;
  /** Draws from the chi-squared distribution, as a sum of squares; `degrees` is a small whole number. */
  chiSquared(degrees: number): number;
}

/** Creates draws by Mulberry32, and normal numbers from these by the method of Box and Muller (1958). */
export function createSeededDraws(seed: number): SeededDraws {
  let state = seed >>> 0;
  let spare: number | null = null;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
  const normal = (): number => {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return {
    uniform,
    normal,
    chiSquared(degrees) {
      let sum = 0;
      for (let i = 0; i < degrees; i++) sum += normal() ** 2;
      return sum;
    },
  };
}
