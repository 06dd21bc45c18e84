/** A known week: its place in time, in weeks (the last known week is 0, earlier ones are below 0), and its demand. */
export interface DemandPoint {
  readonly week: number;
  /** Demand in GPUs, above 0. */
  readonly demand: number;
}

/** Whether demand grows by the same number of GPUs each week, or by the same part of itself. */
export type TrendScale = "linear" | "compound";

/**
 * A straight line through the demand (or its logarithm), fitted with residuals that are correlated between neighbouring weeks,
 * and how well it explains the weeks.
 */
export interface TrendModel {
  readonly scale: TrendScale;
  /** Correlation of the residuals of two neighbouring weeks. */
  readonly correlation: number;
  /** The height of the line at the last known week, on the model's scale; `slope` is its rise per week on that scale. */
  readonly level: number;
  readonly slope: number;
  /**
   * Sum of the squares of the remaining residuals, after their correlation is removed; `degrees` are its degrees of freedom.
   */
  readonly squares: number;
  readonly degrees: number;
  /** Lower triangle of a square root of the covariance of `level` and `slope`, for residuals of variance 1. */
  readonly root: readonly [levelLevel: number, slopeLevel: number, slopeSlope: number];
  /** Residual of the last known week. */
  readonly lastResidual: number;
  /** The probability of the model among all models, 0..1. */
  readonly weight: number;
}

/** The models of a series, and the unit of their demand: the geometric mean of the series, in GPUs. */
export interface TrendModels {
  readonly models: readonly TrendModel[];
  readonly unit: number;
}

const scales: readonly TrendScale[] = ["linear", "compound"];
const correlations: readonly number[] = [0, 0.15];

/** Residuals are never taken to be smaller than this part of the demand: weeks that happen to be on one line prove nothing. */
const smallestResidual = 1e-6;

/**
 * Fits every model to at least three points, the last of them at week 0. Formula: regression with residuals of an
 * autoregressive process of order 1 and a flat prior of line and log variance (Zellner, "An Introduction to Bayesian Inference
 * in Econometrics", 1971, chapter 4), for a grid of correlations; the geometric mean makes models of demand and of its
 * logarithm comparable (Box and Cox, "An Analysis of Transformations", 1964). All models are equally likely before the weeks
 * are seen.
 */
export function fitTrendModels(points: readonly DemandPoint[]): TrendModels {
  const unit = Math.exp(points.reduce((sum, { demand }) => sum + Math.log(demand), 0) / points.length);
  const fits = scales.flatMap((scale) =>
    correlations.map((correlation) => fitLine(points, scale, correlation, (demand) => onScale(scale, demand / unit))),
  );
  const best = Math.max(...fits.map(({ logEvidence }) => logEvidence));
  const weights = fits.map(({ logEvidence }) => Math.exp(logEvidence - best));
  const total = weights.reduce((a, b) => a + b, 0);
  return { unit, models: fits.map(({ model }, i) => ({ ...model, weight: (weights[i] ?? 0) / total })) };
}

const onScale = (scale: TrendScale, demand: number): number => (scale === "linear" ? demand : Math.log(demand));

/** Converts a height on the scale of a model to demand in its unit. */
export function fromScale(scale: TrendScale, height: number): number {
  return scale === "linear" ? height : Math.exp(height);
}

interface Fit {
  readonly model: Omit<TrendModel, "weight">;
  readonly logEvidence: number;
}

/** Fits a line by least squares to the points, after what each has in common with the one before is subtracted. */
function fitLine(
  points: readonly DemandPoint[],
  scale: TrendScale,
  correlation: number,
  heightOf: (demand: number) => number,
): Fit {
  let [ones, weeks, squares, onesHeights, weeksHeights, heights] = [0, 0, 0, 0, 0, 0];
  let logVariances = 0;
  let before: { readonly week: number; readonly height: number } | null = null;
  for (const { week, demand } of points) {
    const height = heightOf(demand);
    const shared = before === null ? 0 : correlation ** (week - before.week);
    const scaled = 1 / Math.sqrt(1 - shared ** 2);
    const one = (1 - shared) * scaled;
    const x = (week - shared * (before?.week ?? 0)) * scaled;
    const y = (height - shared * (before?.height ?? 0)) * scaled;
    ones += one * one;
    weeks += one * x;
    squares += x * x;
    onesHeights += one * y;
    weeksHeights += x * y;
    heights += y * y;
    logVariances += Math.log(1 - shared ** 2);
    before = { week, height };
  }
  const determinant = ones * squares - weeks * weeks;
  const level = (squares * onesHeights - weeks * weeksHeights) / determinant;
  const slope = (ones * weeksHeights - weeks * onesHeights) / determinant;
  const degrees = points.length - 2;
  const explained = level * onesHeights + slope * weeksHeights;
  const left = Math.max(heights - explained, points.length * smallestResidual ** 2);
  const levelLevel = Math.sqrt(squares / determinant);
  const slopeLevel = -weeks / determinant / levelLevel;
  return {
    model: {
      scale,
      correlation,
      level,
      slope,
      squares: left,
      degrees,
      root: [levelLevel, slopeLevel, Math.sqrt(Math.max(0, ones / determinant - slopeLevel ** 2))],
      lastResidual: (before?.height ?? 0) - level,
    },
    logEvidence: -0.5 * Math.log(determinant) - 0.5 * logVariances - 0.5 * degrees * Math.log(left),
  };
}
