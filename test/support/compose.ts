import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A condition under which a service waits for another. */
export type StartCondition = "service_healthy" | "service_completed_successfully";

/** A service of docker-compose.yml: the fields that tests read. */
export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly depends_on?: Readonly<Record<string, { readonly condition: StartCondition }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly mem_limit: string;
  readonly cpus: number;
  readonly restart?: string;
}

/** docker-compose.yml with its anchors resolved. */
export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, object>>;
}

/** The stack as it is committed. */
export function readComposeFile(): ComposeFile {
  return parse(readFileSync("docker-compose.yml", "utf8"), { merge: true }) as ComposeFile;
}

/** A service's mounts: the source, which is a path of the repository or the name of a volume, and the target. */
export function mountsOf({
  volumes = [],
}: ComposeService): readonly { readonly from: string; readonly to: string; readonly isReadOnly: boolean }[] {
  return volumes.map((volume) => {
    const [from = "", to = "", mode] = volume.split(":");
    return { from, to, isReadOnly: mode === "ro" };
  });
}

/** The path in the repository of a service's path, by the service's mounts. Fails where no mount has the path. */
export function mountedFrom(service: ComposeService, path: string): string {
  const mount = mountsOf(service)
    .filter(({ from, to }) => from.startsWith("./") && (path === to || path.startsWith(`${to}/`)))
    .toSorted((a, b) => b.to.length - a.to.length)[0];
  if (mount === undefined) throw new Error(`nothing of the repository is mounted at ${path}`);
  return `${mount.from}${path.slice(mount.to.length)}`;
}
