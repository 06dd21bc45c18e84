import { stringify } from "yaml";

/** The facts about a release in a manifest. */
export interface KrewRelease {
  readonly version: string;
  readonly description: string;
  readonly source: string;
  readonly file: string;
  readonly sha256: string;
}

const shortDescription = "Show who holds the GPUs of a cluster and uses them";

/** The manifest by which krew installs `kubectl fairlead` (krew.googlecontainertools.github.com/v1alpha2). */
export function krewManifest({ version, description, source, file, sha256 }: KrewRelease): string {
  const platform = (os: string) => ({
    selector: { matchLabels: { os } },
    uri: `${source}/releases/download/v${version}/${file}`,
    sha256,
    bin: "kubectl-fairlead",
  });
  return stringify(
    {
      apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
      kind: "Plugin",
      metadata: { name: "fairlead" },
      spec: {
        version: `v${version}`,
        homepage: source,
        shortDescription,
        description: `${description}\n\n"kubectl fairlead now" needs nothing in the cluster.\n`,
        caveats:
          "Node.js 24 or newer must be in PATH. To see how GPUs are used, you need the right to get pods/proxy in the\nnamespace of dcgm-exporter.\n",
        platforms: [platform("linux"), platform("darwin")],
      },
    },
    { lineWidth: 0 },
  );
}
