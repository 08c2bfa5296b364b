import type { Filter } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { machineScope, podScope, type SampleScope } from "../read/sample-scope.ts";
import { readSlots } from "../read/slots.ts";
import { address, teamAddress } from "../parts/address.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** The subject of a page: a team, a workload, a node or a GPU. */
export interface Subject {
  readonly path: string;
  /** The address parameters that identify it. */
  readonly named: readonly string[];
  /** Returns its title: `Team vision`. */
  readonly title: (of: Named) => string;
  /** Returns its charges. */
  readonly find: (of: Named, store: StoreClient, span: Span) => Promise<Found>;
  /** The dimensions that divide its charges, and the link of each part. */
  readonly parts: readonly Breakdown[];
  /** Returns its samples; absent for a subject without a live section. */
  readonly scope?: (of: Named) => SampleScope;
}

/** The parameters of an address that name a subject. */
export type Named = Readonly<Record<string, string>>;

/** The charges of a subject. */
export interface Found {
  /** The conditions. They match nothing if nothing of the name was ever charged. */
  readonly where: readonly Filter[];
  /** Other locations of the subject in the time, which are charged under other names. */
  readonly elsewhere?: readonly { readonly name: string; readonly href: string }[];
}

/** A division of the charges of a subject into parts. */
export interface Breakdown {
  readonly title: string;
  /** The id of its table, in the address. */
  readonly id: string;
  readonly by: readonly string[];
  readonly name: (dimensions: Named) => string;
  /** Undefined if there is no further page. */
  readonly href: (dimensions: Named, span: string) => string | undefined;
}

/** Returns the condition of one value. */
export const is = (dimension: string, value: string): Filter => ({ dimension, values: [value] });

const BY_WORKLOAD: Breakdown = {
  title: "By workload",
  id: "workloads",
  by: ["cluster", "namespace", "workloadKind", "workload"],
  name: ({ namespace, workload }) => (workload === "" ? "not held" : `${namespace}/${workload}`),
  href: ({ cluster, namespace, workload }, span) =>
    workload === "" ? undefined : address("/workload", { cluster, namespace, workload, span }),
};
const BY_GPU: Breakdown = {
  title: "By GPU",
  id: "gpus",
  by: ["cluster", "node", "gpu"],
  name: ({ node, gpu }) => (gpu === "" ? `${node}, without a GPU` : `GPU ${gpu} of ${node}`),
  href: ({ cluster, node, gpu }, span) =>
    gpu === "" ? undefined : address("/gpu", { cluster: cluster!, node: node!, gpu: gpu!, span }),
};
const BY_TEAM: Breakdown = {
  title: "By team",
  id: "teams",
  by: ["team"],
  name: ({ team }) => team!,
  href: ({ team }, span) => teamAddress(team!, span),
};
const BY_POD: Breakdown = {
  title: "By pod",
  id: "pods",
  by: ["cluster", "namespace", "pod"],
  name: ({ namespace, pod }) => (pod === "" ? "not held" : `${namespace}/${pod}`),
  href: ({ cluster, namespace, pod }, span) =>
    pod === "" ? undefined : address("/workload", { cluster, namespace, pod, span }),
};
const BY_COST_CENTRE: Breakdown = {
  title: "By cost center and project",
  id: "centers",
  by: ["costCenter", "project"],
  name: ({ costCenter, project }) => [costCenter, project].filter((name) => name !== "").join(" / ") || "none",
  href: () => undefined,
};

/** The subjects with a page. */
export const SUBJECTS: readonly Subject[] = [
  {
    path: "/team",
    named: ["team"],
    title: ({ team }) => `Team ${team}`,
    find: ({ team }) => Promise.resolve({ where: [is("team", team!)] }),
    parts: [BY_WORKLOAD, BY_COST_CENTRE],
  },
  {
    path: "/workload",
    named: ["cluster", "namespace", "workload", "pod"],
    title: ({ namespace, workload, pod }) =>
      pod === "" ? `Workload ${namespace}/${workload}` : `Pod ${namespace}/${pod}`,
    find: ({ cluster, namespace, workload, pod }) =>
      Promise.resolve({
        where: [
          ...(cluster === "" ? [] : [is("cluster", cluster!)]),
          is("namespace", namespace!),
          ...(workload === "" ? [] : [is("workload", workload!)]),
          ...(pod === "" ? [] : [is("pod", pod!)]),
        ],
      }),
    parts: [BY_POD, BY_GPU, BY_TEAM],
    scope: ({ cluster, namespace, pod, workload }) =>
      podScope({ cluster: cluster!, namespace: namespace!, pod: pod!, workload: workload! }),
  },
  {
    path: "/node",
    named: ["cluster", "node"],
    title: ({ node }) => `Node ${node}`,
    find: ({ cluster, node }) => Promise.resolve({ where: [is("cluster", cluster!), is("node", node!)] }),
    parts: [BY_GPU, BY_WORKLOAD, BY_TEAM],
    scope: ({ cluster, node }) => machineScope({ cluster: cluster!, node: node! }),
  },
  {
    path: "/gpu",
    named: ["cluster", "uuid", "node", "gpu"],
    title: ({ node, gpu, uuid }) => (uuid === "" ? `GPU ${gpu} of ${node}` : `GPU ${uuid}`),
    async find({ cluster, uuid, node, gpu }, store, span) {
      if (uuid === "") return { where: [is("cluster", cluster!), is("node", node!), is("gpu", gpu!)] };
      // The last node of the GPU. A GPU without charges has no node, and no node has an empty name.
      const [last, ...others] = await readSlots(store, { cluster: cluster!, gpuKey: uuid!, ...span });
      if (last === undefined) return { where: [is("cluster", cluster!), is("node", "")] };
      return {
        where: [is("cluster", cluster!), is("node", last.node), is("gpu", String(last.slot))],
        elsewhere: others.map((slot) => ({
          name: `GPU ${slot.slot} of ${slot.node}`,
          href: address("/gpu", { cluster: cluster!, node: slot.node, gpu: String(slot.slot), span: span.name }),
        })),
      };
    },
    parts: [BY_POD, BY_TEAM],
    scope: ({ cluster, node, gpu, uuid }) =>
      machineScope(uuid === "" ? { cluster: cluster!, node: node!, gpu: gpu! } : { cluster: cluster!, uuid: uuid! }),
  },
];
