import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { isOnPath, requirePart } from "../parts.ts";

const run = promisify(execFile);
const CHART = resolve("deploy");
const VERSION = "v3.18.4";
const CACHE = resolve(`node_modules/.cache/gpu-ledger/helm-${VERSION}`);
const BUILT = join(CACHE, "helm");
const NEWEST_KUBERNETES = "1.37.0";
const MOST_OUTPUT_BYTES = 32 * 2 ** 20;

/** An object of Kubernetes, as far as all of them are the same. */
export interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** What Helm made of the chart. */
export interface Rendered {
  readonly text: string;
  readonly objects: readonly ClusterObject[];
}

/** How the chart is rendered; where nothing is said, as a release gpu-ledger in a namespace of that name, for the newest Kubernetes. */
export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  readonly kubernetes?: string;
}

/**
 * Helm: that of PATH, else built by Go (two minutes, once; it is kept under `node_modules/.cache`). `false` where both are missing;
 * see {@link requirePart}.
 */
export async function prepareHelm(): Promise<boolean> {
  if (isOnPath("helm") || existsSync(BUILT)) return true;
  if (!requirePart("go")) return false;
  const env = { ...process.env, GOBIN: CACHE };
  await run("go", ["install", `helm.sh/helm/v3/cmd/helm@${VERSION}`], { env });
  return true;
}

/** Renders the chart with values. Fails with what Helm says of values that it refuses. */
export async function renderChart(values: object, options: RenderOptions = {}): Promise<Rendered> {
  const { release = "gpu-ledger", namespace = "gpu-ledger", kubernetes = NEWEST_KUBERNETES } = options;
  const text = await helm(["template", release, CHART, "--namespace", namespace, "--kube-version", kubernetes], values);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as ClusterObject | null);
  return { text, objects: objects.filter((object) => object !== null) };
}

/**
 * What the chart tells a person after it was installed with values. Helm shows that of a cluster alone; here a copy of the chart has an
 * object of it.
 */
export async function notesOf(values: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-notes-"));
  try {
    cpSync(CHART, folder, { recursive: true });
    renameSync(join(folder, "templates/NOTES.txt"), join(folder, "notes"));
    writeFileSync(join(folder, "templates/notes.yaml"), 'notes: {{ tpl (.Files.Get "notes") . | toJson }}');
    const only = ["--show-only", "templates/notes.yaml", "--kube-version", NEWEST_KUBERNETES];
    const text = await helm(["template", "gpu-ledger", folder, "--namespace", "gpu-ledger", ...only], values);
    return (parse(text) as { readonly notes: string }).notes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lints the chart with values, as strictly as Helm can. Fails with what Helm finds. */
export async function lintChart(values: object): Promise<string> {
  return helm(["lint", CHART, "--strict", "--kube-version", NEWEST_KUBERNETES], values);
}

/** The chart as a package. */
export async function packageChart(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const said = await helm(["package", CHART, "--destination", folder]);
  return /saved it to: (.+)$/m.exec(said)![1]!;
}

async function helm(args: readonly string[], values?: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-chart-"));
  try {
    const file = join(folder, "values.yaml");
    writeFileSync(file, JSON.stringify(values ?? {}));
    const given = values === undefined ? [] : ["--values", file];
    // A configuration of Helm that this machine may have is not asked.
    const env = { ...process.env, HELM_CONFIG_HOME: folder, HELM_CACHE_HOME: folder, HELM_DATA_HOME: folder };
    const { stdout } = await run(isOnPath("helm") ? "helm" : BUILT, [...args, ...given], {
      env,
      maxBuffer: MOST_OUTPUT_BYTES,
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
