import type { KubeObject } from "../projection/kube-object.ts";

/** An API object with its kind, which the items of a list lack. */
export type SeenObject = KubeObject & { readonly metadata: { readonly uid: string } };
