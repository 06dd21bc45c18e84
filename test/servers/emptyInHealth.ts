/** Queries of the dashboards that find nothing in any play of healthy days, by `dashboard: panel refId`, with the reason. */
export const emptyInHealth: Readonly<Record<string, string>> = {
  "fleet: GPUs unusable or slow, by cause B": "no simulated exporter reports why clocks are slowed down",
  "fairness: GPUs waited for, by cause A":
    "work of this play waits for its quota or for a place, and never for want of GPUs alone",
  "fairness: GPUs waited for, by cause D": "no gang of this play fits only in part, or lacks members",
  "fairness: GPUs waited for, by cause F": "its schedulers start what fits and is allowed",
  "fairness: GPUs held above a share that others lack A":
    "its schedulers take back what they may at once; what is left is kept by a setting",
  "fairness: GPUs missing, by queue and cause C": "every guarantee of this play has its nodes",
  "fairness: GPUs missing, by queue and cause D": "what its queues miss is with others, or free",
  "fleet: Guaranteed GPUs without nodes, by cause A": "no node of this play is lost on its last day",
  "fleet: Guaranteed GPUs without nodes, by cause B": "no node of it is still to come",
  "fleet: Guaranteed GPUs without nodes, by cause C": "all its GPU pods go through queues",
  "fleet: Guaranteed GPUs without nodes, by cause D": "its guarantees fit into its nodes",
  "fleet: Guaranteed GPUs without nodes, by cause E": "all its GPU pods go through queues",
  "waste: GPU-hours by what became of them F": "no work of this play hangs",
  "cost: Chargeback, by team F": "the amount before needs the span before the one that is shown, which no play has",
};
