import { type AttemptFailure, attemptFailure, type GetErrorCode } from "./getResult.ts";

const wordings: Readonly<Record<string, readonly [GetErrorCode, string]>> = {
  ECONNREFUSED: ["refused", "the connection was refused: nothing listens on that port"],
  ENOTFOUND: ["dns", "the host name does not resolve"],
  EAI_AGAIN: ["dns", "the host name could not be resolved just now"],
  EHOSTUNREACH: ["unreachable", "there is no route to the host"],
  ENETUNREACH: ["unreachable", "there is no route to the network"],
  ECONNRESET: ["reset", "the connection was cut before the answer was complete"],
  EPIPE: ["reset", "the connection was cut before the answer was complete"],
  UND_ERR_SOCKET: ["reset", "the connection was cut before the answer was complete"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["reset", "the answer is shorter or longer than it announced"],
  ETIMEDOUT: ["timeout", "no connection within the deadline"],
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "no connection within the deadline"],
  UND_ERR_HEADERS_TIMEOUT: ["timeout", "no answer within the deadline"],
  UND_ERR_BODY_TIMEOUT: ["timeout", "the answer was not complete within the deadline"],
  UND_ERR_HEADERS_OVERFLOW: ["too_large", "the answer's headers are too large"],
  UND_ERR_DESTROYED: ["closed", "the pool was closed"],
  UND_ERR_CLOSED: ["closed", "the pool was closed"],
  EPROTO: ["tls", "the TLS handshake failed; does the port speak TLS?"],
  CERT_HAS_EXPIRED: ["tls", "the server's certificate has expired"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["tls", "the server's certificate is self-signed and no CA file vouches for it"],
  SELF_SIGNED_CERT_IN_CHAIN: ["tls", "the server's certificate chain ends in an unknown CA"],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["tls", "the CA of the server's certificate is not known"],
  UNABLE_TO_GET_ISSUER_CERT: ["tls", "the CA of the server's certificate is not known"],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["tls", "the CA of the server's certificate is not known"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "the server's certificate is for another name"],
};

const tlsCode = /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_)/;

/** Translates a socket, TLS or HTTP error into a failure; never throws, whatever was thrown. */
export function describeError(error: unknown): AttemptFailure {
  const code = errorCode(error);
  const known = Object.hasOwn(wordings, code) ? wordings[code] : undefined;
  if (known) return attemptFailure(known[0], `${known[1]} (${code})`);
  if (tlsCode.test(code)) return attemptFailure("tls", `the TLS connection failed (${code})`);
  const isParserError = error instanceof Error && error.name === "HTTPParserError";
  if (isParserError || code.startsWith("HPE_")) return attemptFailure("protocol", "the answer is not HTTP");
  return attemptFailure("failed", code === "" ? "the request failed" : `the request failed (${code})`);
}

/** The system's code of an error; if several attempts failed (IPv6 and IPv4), the first code. */
function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  if ("errors" in error && Array.isArray(error.errors)) {
    for (const inner of error.errors) {
      const code = errorCode(inner);
      if (code !== "") return code;
    }
  }
  return "cause" in error && error.cause !== error ? errorCode(error.cause) : "";
}
