/** An amount of GPUs: `8`, `0.5`. */
export const gpuWords = (gpus: number): string => `${Number(gpus.toFixed(2))}`;

/** A duration in its two largest units: `3 h 10 min`, `2 d 4 h`, `45 s`. */
export function durationWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** A ratio as percent: `23 %`. */
export const percentWords = (ratio: number): string => `${Math.round(ratio * 100)} %`;

/** `1 pod`, `3 pods`. */
export const countWords = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
