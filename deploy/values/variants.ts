import type { GivenValues } from "./schema.ts";

/** Values of a kind of installation, for the chart's `ci` folder and for tests. */
export interface Variant {
  /** What it is for, in a sentence. */
  readonly about: string;
  readonly values: GivenValues;
}

const rules = `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: own}
spec:
  groups:
    - name: own
      rules:
        - alert: OwnAlert
          expr: up{job="fairlead"} == 0
          labels: {severity: warning}
          annotations:
            summary: "{{ $labels.instance }} is down: it's been 'so' for a while"
`;

/** Kinds of installations. Each is rendered, checked and applied by tests. */
export const variants: Readonly<Record<string, Variant>> = {
  default: { about: "Nothing is set: one replica, and whatever the cluster has is used.", values: {} },
  "high-availability": {
    about: "Two replicas, each with a ledger of its own, on different nodes.",
    values: {
      replicas: 2,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "topology.kubernetes.io/zone",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { "app.kubernetes.io/name": "fairlead" } },
        },
      ],
      config: { cluster: "harbor" },
    },
  },
  "tls-and-users": {
    about: "TLS and users on Fairlead's own port: Prometheus, probes and the weekly review verify and sign in.",
    values: {
      web: { existingSecret: "fairlead-web", tls: true },
      prometheus: {
        monitor: {
          enabled: true,
          tlsConfig: {
            ca: { secret: { name: "fairlead-ca", key: "ca.crt" } },
            serverName: "fairlead.fairlead.svc",
          },
          basicAuth: {
            username: { name: "fairlead-scrape", key: "username" },
            password: { name: "fairlead-scrape", key: "password" },
          },
        },
      },
      review: {
        enabled: true,
        user: { name: "review", secretName: "fairlead-review-user" },
        caSecret: { name: "fairlead-ca" },
      },
    },
  },
  "weekly-review": {
    about: "A review each Monday, from the ledgers of two replicas, with a summary in a chat.",
    values: {
      replicas: 2,
      review: {
        enabled: true,
        schedule: "30 6 * * 1",
        timeZone: "Europe/Berlin",
        format: "markdown",
        link: "https://fairlead.example.org/review?week=last&format=html",
        webhook: { secretName: "fairlead-webhook", key: "url" },
        persistence: { size: "5Gi", storageClass: "slow" },
      },
    },
  },
  "plain-annotations": {
    about: "A Prometheus without its operator, which finds Services by their annotations.",
    values: {
      prometheusScrape: true,
      prometheus: { monitor: { enabled: false }, rules: { enabled: false } },
      dashboards: { enabled: false },
      service: { annotations: { "example.org/owner": "platform" } },
    },
  },
  "everything-off": {
    about: "Only what runs: rights, account, dashboards and network policy come from elsewhere, and nothing is kept.",
    values: {
      rbac: { create: false },
      serviceAccount: { create: false, name: "reader" },
      persistence: { enabled: false },
      networkPolicy: { enabled: false },
      podDisruptionBudget: { enabled: false },
      dashboards: { enabled: false },
      prometheus: { monitor: { enabled: false }, rules: { enabled: false } },
    },
  },
  "names-overridden": {
    about: "Names, namespaces and labels of the platform's own, and an image by its digest from a shared registry.",
    values: {
      global: { imageRegistry: "registry.example.org" },
      image: {
        registry: "ignored.example.org",
        repository: "platform/fairlead",
        tag: "v1",
        sha: "3d1f2a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7081",
        pullPolicy: "Always",
      },
      imagePullSecrets: [{ name: "registry" }],
      nameOverride: "gpu-accounts",
      fullnameOverride: "gpu-accounts-of-the-whole-platform-in-frankfurt-and-dublin",
      namespaceOverride: "gpu-accounts",
      customLabels: { "example.org/cost-center": "4711", team: "platform" },
      podLabels: { "example.org/inject": "false" },
      podAnnotations: { "example.org/logs": "json" },
      annotations: { "example.org/reviewed": "true" },
      serviceAccount: { name: "gpu-accounts", annotations: { "example.org/role": "none" } },
      dashboards: { namespace: "grafana", labels: { grafana_dashboard: null, dashboards: "yes" }, annotations: null },
      prometheus: {
        releaseLabel: "",
        monitor: { enabled: true, namespace: "monitoring", additionalLabels: { prometheus: "platform" } },
        rules: { enabled: true, namespace: "monitoring", additionalLabels: { role: "alert-rules" } },
      },
      links: {
        fairlead: "https://gpu.example.com/fairlead",
        grafana: "https://grafana.example.com/g",
        runbooks: "https://wiki.example.com/runbooks?of=fairlead&kind=",
      },
      review: { enabled: true },
    },
  },
  "big-cluster": {
    about:
      "Thousands of GPUs: telemetry from Mimir, OTLP, own prices, ConfigMaps of schedulers, and a place of its own.",
    values: {
      replicas: 2,
      resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { memory: "8Gi" } },
      persistence: {
        size: "200Gi",
        storageClass: "fast",
        accessModes: ["ReadWriteOncePod"],
        annotations: { "example.org/backup": "daily" },
      },
      nodeSelector: { "example.org/pool": "infrastructure" },
      tolerations: [{ key: "example.org/infrastructure", operator: "Exists", effect: "NoSchedule" }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: "kubernetes.io/hostname",
              labelSelector: { matchLabels: { "app.kubernetes.io/name": "fairlead" } },
            },
          ],
        },
      },
      priorityClassName: "system-cluster-critical",
      terminationGracePeriodSeconds: 120,
      extraArgs: ["--log.level=debug", "--log.format=json"],
      env: [{ name: "OTEL_SERVICE_NAME", value: "fairlead-harbor" }],
      extraVolumes: [
        { name: "otlp", secret: { secretName: "otlp-headers" } },
        { name: "mimir", secret: { secretName: "mimir-token" } },
      ],
      extraVolumeMounts: [
        { name: "otlp", mountPath: "/etc/otlp", readOnly: true },
        { name: "mimir", mountPath: "/etc/mimir", readOnly: true },
      ],
      networkPolicy: {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
        egressPorts: [443, 6443, 9009, 4318],
        extraEgress: [{ to: [{ ipBlock: { cidr: "192.0.2.0/24" } }] }],
      },
      rbac: {
        extraRules: [{ apiGroups: ["example.org"], resources: ["gpubookings"], verbs: ["get", "list"] }],
        optional: {
          autoscalers: true,
          dynamicResourceAllocation: false,
          kueue: true,
          kai: true,
          volcano: true,
          karpenter: true,
          volumes: true,
          workloads: true,
        },
      },
      prometheus: {
        monitor: {
          enabled: true,
          interval: "15s",
          sampleLimit: 1_000_000,
          relabelings: [{ action: "replace", targetLabel: "region", replacement: "eu" }],
          metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "go_.*" }],
        },
        rules: { enabled: true },
      },
      config: {
        cluster: "harbor",
        interval: 15,
        dcgm: {
          discovery: [],
          prometheus: {
            url: "https://mimir.example.org/prometheus",
            auth: { kind: "bearer", tokenFile: "/etc/mimir/token" },
            headers: { "X-Scope-OrgID": "gpu" },
            matchers: { cluster: "harbor" },
            nodeLabel: "Hostname",
          },
        },
        teams: [
          { from: "namespace-label", key: "example.org/team" },
          { from: "namespace-pattern", pattern: "ci-*", team: "build" },
          { from: "namespace" },
        ],
        queues: {
          teams: [{ team: "research", guarantee: 512, limit: 2048, weight: 2.5 }],
          kueue: { configMap: { namespace: "kueue-system", name: "kueue-manager-config" } },
          volcano: { configMap: { namespace: "volcano-system", name: "volcano-scheduler-configmap" } },
          waitTargets: [{ queue: "urgent-*", seconds: 900 }],
        },
        clusterAutoscaler: { statusConfigMap: {} },
        gpu: { resources: { "acme.com/half-gpu": 0.5 }, pools: { "H100-SXM5-80GB": "h100" } },
        limits: { series: 1_000_000, teams: 5000 },
        ledger: { hourlyDays: 30 },
        prices: { basis: "gpu-share" },
        cost: { co2GramsPerKwh: 380, budgets: [{ team: "research", perMonth: 250_000, currency: "EUR" }] },
        otlp: { endpoint: "https://otel.example.org", headersFile: "/etc/otlp/headers" },
      },
      prices: {
        currency: "EUR",
        date: "2026-11-02",
        prices: [
          { instanceType: "p5.48xlarge", perNodeHour: 41.28 },
          { labels: { "example.com/owner": "lab-*" }, perGpuHour: 2.1 },
        ],
      },
    },
  },
  openshift: {
    about: "A platform that chooses user and group of pods by itself.",
    values: {
      securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null, fsGroupChangePolicy: null },
      review: { enabled: true },
    },
  },
  "extra-manifests": {
    about: "Manifests, containers and texts of the user's own, in which braces mean nothing.",
    values: {
      podAnnotations: { "example.org/template": '{{ with secret "kv/fairlead" }}{{ .Data.token }}{{ end }}' },
      extraContainers: [
        {
          name: "proxy",
          image: "registry.example.org/proxy:1",
          args: ["--upstream=http://127.0.0.1:10836"],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
      extraManifests: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "alert-templates", namespace: "fairlead" },
          data: {
            "team.tmpl": '{{ define "team" }}{{ .CommonLabels.team }}{{ end }}\n---\nno: document\n',
            "quotes.txt": 'it\'s "so": # no comment\n\ttab\n  two spaces\n\n',
          },
        },
        {
          apiVersion: "networking.k8s.io/v1",
          kind: "Ingress",
          metadata: { name: "fairlead", namespace: "fairlead" },
          spec: { defaultBackend: { service: { name: "fairlead", port: { name: "http" } } } },
        },
      ],
    },
  },
  "own-rules": {
    about: "Alerts with the team's own thresholds, as `fairlead alerts` writes them.",
    values: {
      prometheus: { releaseLabel: "monitoring", monitor: { enabled: true }, rules: { enabled: true, content: rules } },
    },
  },
  "load-balancer": {
    about: "Reached from outside the cluster through a load balancer, with nothing but the page.",
    values: {
      service: { type: "LoadBalancer", port: 80, annotations: { "example.org/internal": "true" } },
      networkPolicy: { egressPorts: [] },
      resources: null,
      automountServiceAccountToken: false,
      rbac: { create: false },
      config: null,
    },
  },
};
