/** The reason why a file did not reach its recipient. */
export type DeliveryErrorCode =
  | "folder-refused"
  | "webhook-refused"
  | "webhook-timeout"
  | "webhook-unreachable"
  /** Another server may have the attempt. */
  | "lease-lost";

/** A file did not reach its recipient. The message contains the reason and no secret. */
export class DeliveryError extends Error {
  readonly code: DeliveryErrorCode;
  readonly retriable = true;

  constructor(code: DeliveryErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "DeliveryError";
    this.code = code;
  }
}
