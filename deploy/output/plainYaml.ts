import { baseValues, namespaceObject } from "./kustomize.ts";
import type { Render } from "./staticFiles.ts";
import { yamlText } from "./yamlText.ts";

/** Values of the plain file: it knows nothing of the cluster, so it may read every kind of queue that there may be. */
export const plainValues = {
  ...baseValues,
  prometheusScrape: true,
  rbac: {
    optional: {
      autoscalers: true,
      dynamicResourceAllocation: true,
      kueue: true,
      kai: true,
      volcano: true,
      karpenter: true,
      volumes: true,
      workloads: true,
    },
  },
};

const explanation = `# Everything that Fairlead needs in a cluster, in one file, for a first look and for those who use neither Helm nor kustomize:
#   kubectl apply --server-side -f fairlead.yaml
# Before: set the image (spec.template.spec.containers[0].image of the StatefulSet) to your build of deploy/image, and the
# cluster's name in the ConfigMap fairlead-config. A right to read kinds that the cluster does not have allows nothing.`;

/** One file with all objects: namespace, one replica, all rights to read, annotations for Prometheus. */
export function plainYaml(render: Render, firstLine: string): string {
  const documents = [namespaceObject, ...render(plainValues)].map((object) => yamlText(object, null));
  return `# ${firstLine}\n${explanation}\n---\n${documents.join("---\n")}`;
}
