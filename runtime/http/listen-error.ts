/** The server cannot listen on the address: another program does, or the address is not of this machine. The message has the reason. */
export class ListenError extends Error {
  readonly code = "cannot-listen";
  readonly retriable = false;

  constructor(message: string, options: { readonly cause: unknown }) {
    super(message, options);
    this.name = "ListenError";
  }
}
