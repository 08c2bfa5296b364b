import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { createClusterDriver, type ClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import type { ExporterAddress } from "../../demo/kubernetes/cluster/exporters.ts";
import { objectsAt } from "../../demo/kubernetes/cluster/objects.ts";
import { apiVersionOf, resourceId } from "../../demo/kubernetes/server/resources.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { createRandomTroubles, TROUBLED_GROUP, type RandomTroubles } from "./kubernetes/random-troubles.ts";

/** The cluster of the demo's fleet on an API server of its own, in which a test can cause troubles. */
export interface TroubledCluster {
  readonly server: ApiServer;
  readonly troubles: RandomTroubles;
  /** A kubeconfig for the server. */
  readonly kubeconfig: string;
  /** Ends lasting troubles, and makes the server's objects equal to those of the fleet, as controllers do after a restore. */
  settle(): Promise<void>;
  /** `uid phase node` of every pod of the server that requests GPUs, in order. */
  gpuPods(): readonly string[];
  stop(): Promise<void>;
}

interface Pod {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly nodeName?: string;
    readonly resourceClaims?: readonly unknown[];
    readonly containers: readonly { readonly resources?: { readonly limits?: Readonly<Record<string, string>> } }[];
  };
  readonly status: { readonly phase: string };
}

/** Starts the cluster. `exporters` are the addresses of the fleet's exporters; `chance` returns numbers from 0 to below 1. */
export async function startTroubledCluster(options: {
  readonly folder: string;
  readonly exporters: readonly ExporterAddress[];
  readonly chance: () => number;
}): Promise<TroubledCluster> {
  const { folder, exporters, chance } = options;
  const fleet = createFleet({ seed: 1, gpus: 96, cluster: "demo" });
  const server = await startApiServer();
  const troubles = createRandomTroubles(server, chance);
  const kubeconfig = join(folder, "troubled-kubeconfig.json");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "troubled", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "troubled", user: {} }],
      contexts: [{ name: "troubled", context: { cluster: "troubled", user: "troubled" } }],
      "current-context": "troubled",
    }),
  );

  /** The object as the server serves it now: in another version of its kind, or not at all. */
  function served(object: KubernetesObject): KubernetesObject | undefined {
    if (!object.apiVersion.startsWith(`${TROUBLED_GROUP}/`)) return object;
    const version = troubles.servedVersion();
    return version === undefined ? undefined : { ...object, apiVersion: `${TROUBLED_GROUP}/${version}` };
  }

  function startDriver(): ClusterDriver {
    const driven = {
      put: (object: KubernetesObject) => {
        const known = served(object);
        return known === undefined ? "" : server.put(known);
      },
      delete: (object: KubernetesObject) => {
        const known = served(object);
        return known !== undefined && server.delete(known);
      },
    };
    const started = createClusterDriver(fleet, driven, Date.now, { exporters });
    started.start();
    return started;
  }

  function objectsOf(id: string): readonly KubernetesObject[] {
    const { keys, get } = server.store.snapshot(id, server.store.resourceVersion);
    return keys.slice().map((key) => JSON.parse(get(key)!.object.json("1")) as KubernetesObject);
  }

  function deleteStrangers(): void {
    const known = new Set(objectsAt(fleet, Date.now(), { exporters }).map(({ metadata }) => metadata.uid));
    for (const resource of server.catalog.all()) {
      if (resource.kind === "Lease") continue;
      for (const { metadata } of objectsOf(resourceId(resource))) {
        if (known.has(metadata.uid)) continue;
        server.delete({ apiVersion: apiVersionOf(resource), kind: resource.kind, metadata });
      }
    }
  }

  let driver = startDriver();
  return {
    server,
    troubles,
    kubeconfig,
    async settle() {
      driver.stop();
      await troubles.settle();
      deleteStrangers();
      driver = startDriver();
    },
    gpuPods: () =>
      (objectsOf("pods") as unknown as readonly Pod[])
        .filter(
          ({ metadata, spec }) =>
            metadata.annotations?.["gpu-fraction"] !== undefined ||
            spec.resourceClaims !== undefined ||
            spec.containers.some(({ resources }) =>
              Object.keys(resources?.limits ?? {}).some((name) => /^(nvidia|amd)\.com\//.test(name)),
            ),
        )
        .map(({ metadata, spec, status }) => `${metadata.uid} ${status.phase} ${spec.nodeName ?? ""}`)
        .toSorted(),
    async stop() {
      driver.stop();
      await server.stop();
    },
  };
}
