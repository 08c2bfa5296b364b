import { startExporterDouble, type ExporterDouble } from "./exporter-double.ts";

/** The lines that replace a line of an exporter's page. */
export type ChangeLine = (line: string) => readonly string[];

/** Starts an exporter that serves the page of another one, with the current changes applied to each line. */
export function startSteeredExporter(url: string, changes: readonly ChangeLine[]): Promise<ExporterDouble> {
  return startExporterDouble((_, response, double) => {
    void fetch(url)
      .then((answer) => answer.text())
      .then((page) => {
        const lines = changes.reduce<readonly string[]>((before, change) => before.flatMap(change), page.split("\n"));
        double.page(response, lines.join("\n"));
      })
      .catch(() => response.writeHead(503).end());
  });
}

/** Replaces the value of one GPU's series in a family. */
export function setValue(family: string, uuid: string, value: number): ChangeLine {
  return (line) => [isOf(line, family, uuid) ? line.replace(/ \S+$/, ` ${value}`) : line];
}

/** Adds the exporter's counter of a GPU's XIDs, which its counters file can turn on: without a fault the code is 0. */
export function countXids(uuid: string, code: () => number): ChangeLine {
  const beside = "DCGM_FI_DEV_GPU_TEMP";
  return (line) => {
    if (!isOf(line, beside, uuid)) return [line];
    const labels = `xid="${code()}",window_size_in_ms="300000",`;
    const counted = line.replace(`${beside}{`, `DCGM_EXP_XID_ERRORS_COUNT{${labels}`);
    return [line, counted.replace(/ \S+$/, ` ${Math.sign(code())}`)];
  };
}

function isOf(line: string, family: string, uuid: string): boolean {
  return line.startsWith(`${family}{`) && line.includes(`UUID="${uuid}"`);
}
