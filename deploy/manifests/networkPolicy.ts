import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { type Expression, expression, isSet, value, valueBlock } from "../template/expression.ts";
import { optional, spread } from "../template/template.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { fullname, labels, namespace, selectorLabels } from "./names.ts";

type Spec = NonNullable<INetworkPolicy["spec"]>;
type Port = NonNullable<NonNullable<Spec["egress"]>[number]["ports"]>[number];

const from = valueBlock("networkPolicy.from", ({ networkPolicy }) => networkPolicy.from);

/** Helm has no loop within an expression: the ports are written as JSON, one after another. */
const egressPorts: Expression<readonly Port[]> = expression(
  "block",
  `printf "[%s]" (regexReplaceAll "[0-9]+" (join "," .Values.networkPolicy.egressPorts) "{\\"protocol\\":\\"TCP\\",\\"port\\":\${0}}") | fromJsonArray`,
  ({ values }) => values.networkPolicy.egressPorts.map((port) => ({ protocol: "TCP", port })),
);

/**
 * Who may reach Fairlead, and what it may reach. Names of Services end at addresses that no selector knows (the API
 * server, exporters in the host's network): so ports are allowed, not peers.
 */
export const networkPolicy: Manifest = manifest<INetworkPolicy>(
  "networkpolicy.yaml",
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: fullname, namespace, labels },
    spec: {
      podSelector: { matchLabels: selectorLabels },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [{ protocol: "TCP", port: "http" }], from: optional(isSet(from), from) }],
      egress: [
        {
          ports: [
            { protocol: "UDP", port: 53 },
            { protocol: "TCP", port: 53 },
          ],
        },
        // A rule without ports would allow all of them.
        optional(isSet(egressPorts), { ports: egressPorts }),
        spread(valueBlock("networkPolicy.extraEgress", (values) => values.networkPolicy.extraEgress)),
      ],
    },
  },
  value("networkPolicy.enabled", (values) => values.networkPolicy.enabled),
);
