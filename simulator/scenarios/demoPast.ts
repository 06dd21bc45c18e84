import type { Habit, LaterFault, Scenario, Season } from "../scenario.ts";
import { demoScenario } from "./demo.ts";

const hour = 3600;
const day = 24 * hour;

/**
 * The cluster of the demo in the two weeks before it: the same nodes, queues, teams and work, which arrives by day rather than
 * by night and less on weekends. Ads borrows now and then instead of all the time, the pod that fits nowhere has not arrived
 * yet, and no exporter is out of order: instead, a node is lost for some hours in each week. `startAt` is when it begins,
 * seconds since the epoch.
 */
export function demoPast(startAt: number): Scenario {
  const now = demoScenario();
  const season: Season = { since: startAt, growth: "linear", perWeek: 0.06, day: 0.5, weekend: 0.4 };
  return {
    ...now,
    habits: now.habits.map((habit) => inThePast(habit, season)),
    placed: now.placed.filter(({ node }) => node !== null),
    faults: [],
    laterFaults: lostNodes(),
    stepSeconds: 60,
    collectionInterval: 60,
  };
}

function inThePast(habit: Habit, season: Season): Habit {
  if (habit.name === "ads-embed")
    return { ...habit, season, everySeconds: 10 * hour, maxWaiting: 1, runSeconds: [3 * hour, 9 * hour] };
  return habit.everySeconds === null ? habit : { ...habit, season };
}

function lostNodes(): readonly LaterFault[] {
  const lost = (node: string, after: number): LaterFault => ({
    afterSeconds: after,
    forSeconds: 5 * hour,
    fault: { kind: "node-lost", node },
  });
  return [lost("a100-02", 4 * day + 9 * hour), lost("h100-11", 10 * day + 14 * hour)];
}
