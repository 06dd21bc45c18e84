/** A Topology as KAI has it; Kueue's has the same fields without the alias. */
export const topology = {
  apiVersion: "kai.scheduler/v1alpha1",
  kind: "Topology",
  metadata: { name: "cluster", uid: "t" },
  spec: {
    levels: [
      { nodeLabel: "example.com/block", alias: "block" },
      { nodeLabel: "example.com/rack" },
      { nodeLabel: "kubernetes.io/hostname" },
    ],
  },
};

/** HyperNodes of Volcano with each kind of member. */
export const hyperNodes = [
  {
    apiVersion: "topology.volcano.sh/v1alpha1",
    kind: "HyperNode",
    metadata: { name: "s0", uid: "h0" },
    spec: {
      tier: 1,
      tierName: "rack",
      members: [
        { type: "Node", selector: { exactMatch: { name: "n0" } } },
        { type: "Node", selector: { regexMatch: { pattern: "^n[12]$" } } },
        {
          type: "Node",
          selector: {
            labelMatch: {
              matchLabels: { rack: "r1" },
              matchExpressions: [{ key: "gpu", operator: "Exists" }],
            },
          },
        },
        { type: "Node" },
        { type: "Switch", selector: { exactMatch: { name: "n9" } } },
      ],
    },
  },
  {
    metadata: { name: "s1", uid: "h1" },
    spec: { tier: 2, members: [{ type: "HyperNode", selector: { exactMatch: { name: "s0" } } }] },
  },
];
