import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How an image is run, as its container file says it. */
export interface ImageConfig {
  readonly user?: string;
  readonly folder?: string;
  readonly environment?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/**
 * Writes an image as an OCI archive that `ctr images import` and `docker load` read: one layer, the folder `root`, whose files
 * all belong to root. It gets all the names, which are whole (`docker.io/library/fairlead:0.1.0`).
 */
export function writeOciArchive(file: string, names: readonly string[], root: string, config: ImageConfig): void {
  const layout = mkdtempSync(join(tmpdir(), "fairlead-oci-"));
  try {
    const blobs = join(layout, "blobs", "sha256");
    mkdirSync(blobs, { recursive: true });
    const keep = (bytes: Uint8Array, mediaType: string) => {
      const digest = digestOf(bytes);
      writeFileSync(join(blobs, digest.slice("sha256:".length)), bytes);
      return { mediaType, digest, size: bytes.length };
    };
    const keepJson = (value: unknown, mediaType: string) => keep(Buffer.from(JSON.stringify(value)), mediaType);
    const packing = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-c", "-C", root, "."];
    const layer = execFileSync("tar", packing, { maxBuffer: 1 << 30 });
    const described = keepJson(
      {
        architecture: process.arch === "x64" ? "amd64" : process.arch,
        os: "linux",
        config: {
          User: config.user ?? "",
          WorkingDir: config.folder ?? "/",
          Env: ["PATH=/usr/local/bin:/usr/bin:/bin", ...(config.environment ?? [])],
          Entrypoint: config.entrypoint ?? [],
          Cmd: config.command ?? [],
          Labels: config.labels ?? {},
        },
        rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
      },
      "application/vnd.oci.image.config.v1+json",
    );
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const layers = [keep(layer, "application/vnd.oci.image.layer.v1.tar")];
    const manifest = keepJson({ schemaVersion: 2, mediaType, config: described, layers }, mediaType);
    const manifests = names.map((name) => ({ ...manifest, annotations: { "io.containerd.image.name": name } }));
    writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    execFileSync("tar", ["-cf", file, "-C", layout, "oci-layout", "index.json", "blobs"]);
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}
