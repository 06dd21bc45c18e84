import type { IPod } from "kubernetes-models/v1";
import { text, valueBlock } from "../template/expression.ts";
import { ledgerFolder } from "./configMaps.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { fullname, image, namespace, nameWith } from "./names.ts";

/**
 * A pod that takes a copy of a ledger from its standard input and puts it into the volume of the first replica, while no
 * replica runs. It gets no token, and is no part of an installation.
 */
export const restorePod: Manifest = manifest<IPod>("restore-pod.yaml", {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: nameWith("restore"), namespace },
  spec: {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    securityContext: valueBlock("securityContext", ({ securityContext }) => securityContext),
    containers: [
      {
        name: "restore",
        image,
        args: ["ledger", "restore", "--replace", `${ledgerFolder}/ledger.db`],
        stdin: true,
        stdinOnce: true,
        resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        securityContext: valueBlock("containerSecurityContext", (values) => values.containerSecurityContext),
        volumeMounts: [
          { name: "ledger", mountPath: ledgerFolder },
          { name: "temporary", mountPath: "/tmp" },
        ],
      },
    ],
    volumes: [
      { name: "ledger", persistentVolumeClaim: { claimName: text`ledger-${fullname}-0` } },
      { name: "temporary", emptyDir: { sizeLimit: "10Gi" } },
    ],
  },
});
