/** A running exporter, and the credentials for it. */
export interface ExporterAddress {
  readonly url: string;
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
}

/** Flags with the credentials for an exporter. */
export interface ExporterFlags {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly caFile?: string;
}

/** The exporter at an address, with the credentials that the flags name. */
export function exporterAt(url: string, { username, passwordFile, caFile }: ExporterFlags): ExporterAddress {
  return { url, username: username ?? null, passwordFile: passwordFile ?? null, caFile: caFile ?? null };
}
