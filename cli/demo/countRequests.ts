import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";

/** A client, and the number of its requests that have no answer yet. */
export interface CountedClient {
  readonly client: ApiClient;
  underWay(): number;
}

/** Counts requests until they are answered; a watch is answered when it is open. */
export function countRequests(inner: ApiClient): CountedClient {
  let count = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    count += 1;
    try {
      return await work();
    } finally {
      count -= 1;
    }
  };
  return {
    client: {
      get: (path, options) => counted(() => inner.get(path, options)),
      open: (path, options) => counted(() => inner.open(path, options)),
      close: inner.close,
    },
    underWay: () => count,
  };
}
