import { waste } from "../../dashboards/waste.ts";
import { fromReplica, series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

type Gang = "8" | "64" | "128";

const slots = (level: string, gang_gpus: Gang, now: number, possible: number): readonly WorldSeries[] => {
  const labels = { cluster: "east", pool: "H100", level, gang_gpus };
  return [
    series("fairlead_topology_gang_slots", labels, now),
    series("fairlead_topology_possible_gang_slots", labels, possible),
  ];
};

const rack = { cluster: "east", pool: "H100", level: "rack" } as const;
const racks = [
  series("fairlead_topology_domains", rack, 33),
  series("fairlead_topology_free_domains", rack, 0),
  series("fairlead_topology_nodes_outside", rack, 2),
];
const unusable = series("fairlead_topology_unusable_gpus", rack, 7.5);

testPanelNumbers(waste, [
  {
    panel: "Gangs that fit now, by level and size",
    why: "by level and size, though another replica says the same; none fits is 0, and what no empty rack could take is left out",
    world: [
      ...slots("rack", "8", 12, 132),
      ...slots("rack", "64", 0, 33),
      ...slots("rack", "64", 0, 33).map((one) => fromReplica(1, one)),
      ...slots("rack", "128", 0, 0),
    ],
    shows: {
      "Possible [H100, rack, 8, east]": 132,
      "Fit now [H100, rack, 8, east]": 12,
      "Possible [H100, rack, 64, east]": 33,
      "Fit now [H100, rack, 64, east]": 0,
    },
  },
  {
    panel: "Gangs that fit now, by level and size",
    why: "of the chosen pool only",
    world: slots("rack", "8", 12, 132),
    variables: { pool: "A100" },
    shows: {},
  },
  {
    panel: "Gangs that fit now, by level and size",
    why: "nothing without a topology, and not 0",
    world: [],
    shows: {},
  },
  {
    panel: "Domains and unusable GPUs, by level",
    why: "each number of a level; no rack is wholly free",
    world: [...racks, unusable],
    shows: {
      "Domains [H100, rack, east]": 33,
      "Wholly free [H100, rack, east]": 0,
      "Unusable [H100, rack, east]": 7.5,
      "Nodes outside [H100, rack, east]": 2,
    },
  },
  {
    panel: "Domains and unusable GPUs, by level",
    why: "what gangs cannot use is unknown, not 0, where no gang fits into an empty rack",
    world: racks,
    shows: {
      "Domains [H100, rack, east]": 33,
      "Wholly free [H100, rack, east]": 0,
      "Nodes outside [H100, rack, east]": 2,
    },
  },
  {
    panel: "Free GPUs that no gang can use, by level",
    why: "of each level",
    world: [unusable, series("fairlead_topology_unusable_gpus", { ...rack, level: "block" }, 3)],
    shows: { "rack, H100 (east)": 7.5, "block, H100 (east)": 3 },
  },
]);
