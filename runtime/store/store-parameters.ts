/** Values of `{name:Type}` placeholders. Decimals and large integers are strings. */
export type StoreParameters = Readonly<Record<string, unknown>>;
