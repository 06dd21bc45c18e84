const stepSeconds = 57;

/**
 * Series of `pod_gpu_duty_cycle.csv` (columns value in percent, timestamp, pod id) as ratios, one per pod, on a common
 * grid of 57 s. A step without a row keeps the value before it; before the first row it is 0.
 */
export function dutyCycles(csv: string): readonly Float64Array[] {
  const samples = new Map<string, [number, number][]>();
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  let start = csv.indexOf("\n") + 1;
  while (start > 0 && start < csv.length) {
    const lineEnd = csv.indexOf("\n", start);
    const end = lineEnd === -1 ? csv.length : lineEnd;
    const [value = "0", at = "0", pod = ""] = csv.slice(start, end).trimEnd().split(",");
    const seconds = Number(at);
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
    const rows = samples.get(pod);
    if (rows === undefined) samples.set(pod, [[seconds, Number(value)]]);
    else rows.push([seconds, Number(value)]);
    start = end + 1;
  }
  const length = Math.max(1, Math.round((last - first) / stepSeconds) + 1);
  return [...samples.values()].map((rows) => onGrid(rows, first, length));
}

function onGrid(rows: readonly (readonly [number, number])[], first: number, length: number): Float64Array {
  const values = new Float64Array(length).fill(-1);
  for (const [seconds, percent] of rows) values[Math.round((seconds - first) / stepSeconds)] = percent / 100;
  let before = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i] ?? -1;
    before = value < 0 ? before : value;
    values[i] = before;
  }
  return values;
}
