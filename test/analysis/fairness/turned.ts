import type { Queueing } from "../../../exporter/join/queues/queueing.ts";

const reversed = <Value>(values: readonly Value[] | undefined) => values?.toReversed();

/** The same moment with siblings, classes and gangs the other way round; `places[i]` is where queue i went. */
export function turned(moment: Queueing): { readonly moment: Queueing; readonly places: readonly number[] } {
  const order: number[] = [];
  const visit = (index: number): void => {
    order.push(index);
    for (const child of (moment.queues[index]?.children ?? []).toReversed()) visit(child);
  };
  for (const [index, { parent }] of [...moment.queues.entries()].reverse()) if (parent === null) visit(index);
  const places = moment.queues.map((_, index) => order.indexOf(index));
  const placeOf = (index: number): number => places[index] ?? -1;
  const gangOf = (index: number): number => moment.gangs.length - 1 - index;
  const classOf = (domain: number, nodeClass: number): number =>
    (moment.domains[domain]?.classes?.length ?? 1) - 1 - nodeClass;
  const domains = moment.domains.map((domain) => {
    const classes = reversed(domain.classes);
    return classes === undefined ? domain : { ...domain, classes };
  });
  const queues = order.flatMap((index) => {
    const queue = moment.queues[index];
    if (queue === undefined) return [];
    const allocatedByClass = reversed(queue.allocatedByClass);
    return [
      {
        ...queue,
        ...(allocatedByClass === undefined ? {} : { allocatedByClass }),
        parent: queue.parent === null ? null : placeOf(queue.parent),
        children: queue.children.map(placeOf).sort((a, b) => a - b),
        gangs: queue.gangs.map(gangOf),
      },
    ];
  });
  const gangs = moment.gangs.toReversed().map((gang) => ({
    ...gang,
    parts: gang.parts.map((part) => ({
      ...part,
      queue: part.queue === null ? null : placeOf(part.queue),
      ...(part.places === undefined
        ? {}
        : {
            places: part.places.map((place) => ({
              ...place,
              queue: placeOf(place.queue),
              classes: place.classes?.map((one) => classOf(place.domain, one)) ?? null,
            })),
          }),
    })),
  }));
  return { moment: { ...moment, domains, queues, gangs }, places };
}
