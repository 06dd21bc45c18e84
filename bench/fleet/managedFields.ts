const started = "2026-11-20T08:00:20Z";

/**
 * An entry of managed fields, which an API server adds to each object to know who set which field. These entries are a third of
 * a pod's JSON.
 */
export function managed(manager: string, subresource: string | null, fieldsV1: object): object {
  const common = { manager, operation: "Update", apiVersion: "v1", time: started, fieldsType: "FieldsV1", fieldsV1 };
  return subresource === null ? common : { ...common, subresource };
}

function keyed(prefix: string, keys: readonly string[], inner: object): object {
  return Object.fromEntries(keys.map((key) => [`${prefix}${key}`, inner]));
}

export const controllerFields: object = {
  "f:metadata": {
    "f:generateName": {},
    "f:labels": keyed("f:", ["app", "team", "batch.kubernetes.io/job-name", "kueue.x-k8s.io/queue-name"], {}),
    "f:ownerReferences": { ".": {}, 'k:{"uid":"00000000-0000-4000-9000-000000000000"}': {} },
  },
  "f:spec": {
    "f:containers": {
      'k:{"name":"trainer"}': {
        ".": {},
        ...keyed(
          "f:",
          ["args", "command", "image", "imagePullPolicy", "name", "resources", "terminationMessagePath"],
          {},
        ),
        "f:env": keyed(
          'k:{"name":"',
          ['MASTER_ADDR"}', 'MASTER_PORT"}', 'WORLD_SIZE"}', 'NCCL_DEBUG"}', 'OMP_NUM_THREADS"}', 'TEAM"}'],
          {
            ".": {},
            "f:name": {},
            "f:value": {},
          },
        ),
        "f:volumeMounts": keyed('k:{"mountPath":"', ['/scratch"}', '/dev/shm"}'], {
          ".": {},
          "f:mountPath": {},
          "f:name": {},
        }),
      },
    },
    ...keyed(
      "f:",
      [
        "dnsPolicy",
        "enableServiceLinks",
        "nodeSelector",
        "restartPolicy",
        "schedulerName",
        "securityContext",
        "tolerations",
      ],
      {},
    ),
  },
};

export const kubeletFields: object = {
  "f:status": {
    "f:conditions": keyed(
      'k:{"type":"',
      ['ContainersReady"}', 'Initialized"}', 'PodReadyToStartContainers"}', 'Ready"}'],
      {
        ".": {},
        "f:lastProbeTime": {},
        "f:lastTransitionTime": {},
        "f:status": {},
        "f:type": {},
      },
    ),
    ...keyed("f:", ["containerStatuses", "hostIP", "hostIPs", "phase", "podIP", "podIPs", "startTime"], {}),
  },
};

export const nodeFields: object = {
  "f:status": keyed("f:", ["allocatable", "capacity", "conditions", "nodeInfo", "images"], {}),
};
