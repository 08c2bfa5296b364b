import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { goProgram } from "../go-program.ts";

const run = promisify(execFile);
const CHART = resolve("deploy");
const HELM = { command: "helm", module: "helm.sh/helm/v3", path: "./cmd/helm", version: "v3.18.4" };
const NEWEST_KUBERNETES = "1.37.0";
const MOST_OUTPUT_BYTES = 32 * 2 ** 20;

/** An object of Kubernetes: the fields that all kinds have. */
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

/** The output of Helm for the chart. */
export interface Rendered {
  readonly text: string;
  readonly objects: readonly ClusterObject[];
}

/** The options of a rendering. The default is a release gpu-ledger in a namespace of that name, for the newest Kubernetes. */
export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  readonly kubernetes?: string;
}

/** Finds or builds Helm. Returns `false` where it is missing. */
export async function prepareHelm(): Promise<boolean> {
  return (await findHelm()) !== undefined;
}

/** Finds or builds Helm. Returns its command or its path; `undefined` where it is missing. */
export function findHelm(): Promise<string | undefined> {
  return goProgram(HELM);
}

/** Renders the chart with values. Fails with Helm's message where Helm refuses the values. */
export async function renderChart(values: object, options: RenderOptions = {}): Promise<Rendered> {
  const { release = "gpu-ledger", namespace = "gpu-ledger", kubernetes = NEWEST_KUBERNETES } = options;
  const text = await helm(["template", release, CHART, "--namespace", namespace, "--kube-version", kubernetes], values);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as ClusterObject | null);
  return { text, objects: objects.filter((object) => object !== null) };
}

/**
 * The chart's notes, which Helm prints after an installation with these values. Helm prints them only with a cluster; so this uses a copy of the
 * chart that has an object with the notes.
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

/** Lints the chart with values, as strictly as Helm can. Fails with Helm's findings. */
export async function lintChart(values: object): Promise<string> {
  return helm(["lint", CHART, "--strict", "--kube-version", NEWEST_KUBERNETES], values);
}

/** The chart as a package. */
export async function packageChart(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const printed = await helm(["package", CHART, "--destination", folder]);
  return /saved it to: (.+)$/m.exec(printed)![1]!;
}

async function helm(args: readonly string[], values?: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-chart-"));
  try {
    const file = join(folder, "values.yaml");
    writeFileSync(file, JSON.stringify(values ?? {}));
    const given = values === undefined ? [] : ["--values", file];
    // Helm must not use a configuration that this machine may have.
    const env = { ...process.env, HELM_CONFIG_HOME: folder, HELM_CACHE_HOME: folder, HELM_DATA_HOME: folder };
    const { stdout } = await run((await goProgram(HELM)) ?? HELM.command, [...args, ...given], {
      env,
      maxBuffer: MOST_OUTPUT_BYTES,
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
