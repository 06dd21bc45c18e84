/** Queries of the dashboards that find nothing in any play of healthy days, by `dashboard: panel refId`, with the reason. */
export const emptyInHealth: Readonly<Record<string, string>> = {
  "fairness: Why does work wait? A":
    "work of this play waits for its quota or for a place, and never for want of GPUs alone",
  "fairness: Why does work wait? E": "its schedulers start what fits and is allowed",
  "fairness: Who holds what others are owed? A":
    "its schedulers take back what they may at once; what is left is kept by a setting",
  "fairness: What does each queue miss, and why? C": "every guarantee of this play has its nodes",
  "fairness: What does each queue miss, and why? D": "what its queues miss is with others, or free",
  "fleet: Why have guarantees no nodes? A": "no node of this play is lost on its last day",
  "fleet: Why have guarantees no nodes? B": "no node of it is still to come",
  "fleet: Why have guarantees no nodes? C": "all its GPU pods go through queues",
  "fleet: Why have guarantees no nodes? D": "its guarantees fit into its nodes",
  "fleet: Why have guarantees no nodes? E": "all its GPU pods go through queues",
  "waste: Where did the GPU time go? F": "no work of this play hangs",
  "cost: What is each team charged? F": "the change needs the span before the one that is shown, which no play has",
};
