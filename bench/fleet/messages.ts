import type { MessageType } from "./protobuf.ts";

const owner: MessageType = {
  kind: [1, "string"],
  name: [3, "string"],
  uid: [4, "string"],
  apiVersion: [5, "string"],
  controller: [6, "bool"],
  blockOwnerDeletion: [7, "bool"],
};

const managedFields: MessageType = {
  manager: [1, "string"],
  operation: [2, "string"],
  apiVersion: [3, "string"],
  time: [4, "time"],
  fieldsType: [6, "string"],
  fieldsV1: [7, "json"],
  subresource: [8, "string"],
};

const objectMeta: MessageType = {
  name: [1, "string"],
  generateName: [2, "string"],
  namespace: [3, "string"],
  uid: [5, "string"],
  resourceVersion: [6, "string"],
  generation: [7, "int"],
  creationTimestamp: [8, "time"],
  labels: [11, "texts"],
  annotations: [12, "texts"],
  ownerReferences: [13, { messages: owner }],
  managedFields: [17, { messages: managedFields }],
};

const resources: MessageType = { limits: [1, "quantities"], requests: [2, "quantities"] };

const container: MessageType = {
  name: [1, "string"],
  image: [2, "string"],
  command: [3, "strings"],
  args: [4, "strings"],
  ports: [6, { messages: { name: [1, "string"], containerPort: [3, "int"], protocol: [4, "string"] } }],
  env: [7, { messages: { name: [1, "string"], value: [2, "string"] } }],
  resources: [8, { message: resources }],
  volumeMounts: [9, { messages: { name: [1, "string"], readOnly: [2, "bool"], mountPath: [3, "string"] } }],
  terminationMessagePath: [13, "string"],
  imagePullPolicy: [14, "string"],
  terminationMessagePolicy: [20, "string"],
};

const emptyDir: MessageType = { medium: [1, "string"] };
const projected: MessageType = { defaultMode: [2, "int"] };
const volume: MessageType = {
  name: [1, "string"],
  // In JSON, the source is a part of the volume itself: see `forProtobuf`.
  volumeSource: [2, { message: { emptyDir: [2, { message: emptyDir }], projected: [26, { message: projected }] } }],
};

const toleration: MessageType = {
  key: [1, "string"],
  operator: [2, "string"],
  value: [3, "string"],
  effect: [4, "string"],
  tolerationSeconds: [5, "int"],
};

const podSpec: MessageType = {
  volumes: [1, { messages: volume }],
  containers: [2, { messages: container }],
  restartPolicy: [3, "string"],
  terminationGracePeriodSeconds: [4, "int"],
  dnsPolicy: [6, "string"],
  nodeSelector: [7, "texts"],
  serviceAccountName: [8, "string"],
  serviceAccount: [9, "string"],
  nodeName: [10, "string"],
  securityContext: [14, { message: {} }],
  schedulerName: [19, "string"],
  tolerations: [22, { messages: toleration }],
  priorityClassName: [24, "string"],
  priority: [25, "int"],
  enableServiceLinks: [30, "bool"],
  preemptionPolicy: [31, "string"],
};

const containerStatus: MessageType = {
  name: [1, "string"],
  state: [2, { message: { running: [2, { message: { startedAt: [1, "time"] } }] } }],
  lastState: [3, { message: {} }],
  ready: [4, "bool"],
  restartCount: [5, "int"],
  image: [6, "string"],
  imageID: [7, "string"],
  containerID: [8, "string"],
  started: [9, "bool"],
};

const podCondition: MessageType = {
  type: [1, "string"],
  status: [2, "string"],
  lastProbeTime: [3, "time"],
  lastTransitionTime: [4, "time"],
};

const podStatus: MessageType = {
  phase: [1, "string"],
  conditions: [2, { messages: podCondition }],
  hostIP: [5, "string"],
  podIP: [6, "string"],
  startTime: [7, "time"],
  containerStatuses: [8, { messages: containerStatus }],
  qosClass: [9, "string"],
  podIPs: [12, { messages: { ip: [1, "string"] } }],
  hostIPs: [16, { messages: { ip: [1, "string"] } }],
};

const nodeCondition: MessageType = {
  type: [1, "string"],
  status: [2, "string"],
  lastHeartbeatTime: [3, "time"],
  lastTransitionTime: [4, "time"],
  reason: [5, "string"],
  message: [6, "string"],
};

const nodeInfo: MessageType = {
  machineID: [1, "string"],
  systemUUID: [2, "string"],
  bootID: [3, "string"],
  kernelVersion: [4, "string"],
  osImage: [5, "string"],
  containerRuntimeVersion: [6, "string"],
  kubeletVersion: [7, "string"],
  operatingSystem: [9, "string"],
  architecture: [10, "string"],
};

const nodeStatus: MessageType = {
  capacity: [1, "quantities"],
  allocatable: [2, "quantities"],
  conditions: [4, { messages: nodeCondition }],
  addresses: [5, { messages: { type: [1, "string"], address: [2, "string"] } }],
  nodeInfo: [7, { message: nodeInfo }],
};

/** The kinds of objects that the stand-in has. */
export const messages = {
  Pod: { metadata: [1, { message: objectMeta }], spec: [2, { message: podSpec }], status: [3, { message: podStatus }] },
  Node: {
    metadata: [1, { message: objectMeta }],
    spec: [2, { message: { podCIDR: [1, "string"], providerID: [3, "string"] } }],
    status: [3, { message: nodeStatus }],
  },
  Namespace: {
    metadata: [1, { message: objectMeta }],
    spec: [2, { message: { finalizers: [1, "strings"] } }],
    status: [3, { message: { phase: [1, "string"] } }],
  },
} as const satisfies Readonly<Record<string, MessageType>>;
