/** A running exporter, and how it lets us in. */
export interface ExporterAddress {
  readonly url: string;
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
}

/** Flags that say how an exporter lets us in. */
export interface ExporterFlags {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly caFile?: string;
}

/** The exporter at an address, and how it lets us in. */
export function exporterAt(url: string, { username, passwordFile, caFile }: ExporterFlags): ExporterAddress {
  return { url, username: username ?? null, passwordFile: passwordFile ?? null, caFile: caFile ?? null };
}
