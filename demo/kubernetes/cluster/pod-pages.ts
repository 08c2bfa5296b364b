/** The fields of a pod with pages of metrics. */
export interface PodPages {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly protocol: "TCP" }[];
  readonly podIP: string;
}
