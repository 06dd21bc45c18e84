/** A number of GPUs in a template: a part of a GPU is written as `0.43`, which `humanize` would write as `430m`. */
export function gpuNumber(value: string): string {
  return `{{ if lt ${value} 1.0 }}{{ ${value} | printf "%.2g" }}{{ else }}{{ ${value} | humanize }}{{ end }}`;
}

/** The word `GPU` or `GPUs`, depending on a number, in a template. */
export function gpuWord(value: string): string {
  return `GPU{{ if ne ${value} 1.0 }}s{{ end }}`;
}

/** The value of an alert as a number of GPUs. */
export const valueInGpus = `${gpuNumber("$value")} ${gpuWord("$value")}`;

/** The value of a paging alert as GPU-hours of its window. */
export const valueInGpuHours = ({ window }: { readonly window: string }): string =>
  `{{ $value | printf "%.0f" }} GPU-hours in the last ${window}`;
