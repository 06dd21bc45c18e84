import { createSeededDraws, type SeededDraws } from "./seededDraws.ts";
import { fromScale, type TrendModel, type TrendModels } from "./trendModels.ts";

/** How many futures are drawn: with this many, the ends of an interval are off by about one in a hundred. */
const futures = 2000;
const seed = 20_261_102;
/** The distance between the seeds of two futures, large enough for their draws to have nothing in common. */
const spacing = 0x9e3779b1;

/**
 * The part of the drawn futures in which demand has exceeded `capacity` by the end of each week, 0..1; `[0]` is the first week
 * that is counted. Each future has its own line, drawn from those that the known weeks allow, and its own deviations from it.
 *
 * @param firstWeek the first week that counts, as weeks after the last known one (at least 1)
 */
export function firstPassages(
  { models, unit }: TrendModels,
  capacity: number,
  firstWeek: number,
  weeks: number,
): readonly number[] {
  const counts = new Array<number>(weeks).fill(0);
  for (let i = 0; i < futures; i++) {
    // Each future has its own draws, whatever the capacity: more capacity never lets one end sooner.
    const draws = createSeededDraws(seed + i * spacing);
    const week = passageOf(modelAt(models, (i + 0.5) / futures), draws, capacity / unit, firstWeek, weeks);
    if (week !== null) counts[week] = (counts[week] ?? 0) + 1;
  }
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum / futures;
  });
}

/** The model that `place` (0..1) falls into if the probabilities of all models are laid end to end. */
function modelAt(models: readonly TrendModel[], place: number): TrendModel | undefined {
  let sum = 0;
  return models.find(({ weight }) => {
    sum += weight;
    return place < sum;
  });
}

/** The first counted week in which a future exceeds capacity, as an index from 0; `null`: it does in none. */
function passageOf(
  model: TrendModel | undefined,
  draws: SeededDraws,
  capacity: number,
  firstWeek: number,
  weeks: number,
): number | null {
  if (model === undefined) return null;
  const { scale, correlation, degrees, squares, root } = model;
  const spread = Math.sqrt(squares / Math.max(1e-9, draws.chiSquared(degrees)));
  const [first, second] = [draws.normal() * spread, draws.normal() * spread];
  const level = model.level + root[0] * first;
  const slope = model.slope + root[1] * first + root[2] * second;
  let residual = model.lastResidual + model.level - level;
  const fresh = spread * Math.sqrt(1 - correlation ** 2);
  for (let week = 1; week < firstWeek + weeks; week++) {
    residual = correlation * residual + fresh * draws.normal();
    if (week < firstWeek) continue;
    if (fromScale(scale, level + slope * week + residual) > capacity) return week - firstWeek;
  }
  return null;
}
