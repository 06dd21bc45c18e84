/** The labels of a queue's series. */
export interface QueueLabels {
  readonly scheduler: string;
  readonly kind: string;
  readonly queue: string;
  readonly domain: string;
  /** Empty where several teams share it, or none is known. */
  readonly team: string;
}

/** The same text for the same series. */
export function seriesKey({ scheduler, kind, queue, domain, team }: QueueLabels): string {
  return [scheduler, kind, queue, domain, team].join("\u0000");
}
