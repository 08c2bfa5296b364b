/** The peak figures of a GPU model, by NVIDIA's and AMD's data sheets. */
export interface ModelPeaks {
  /** Dense BF16 tensor operations (FP16 for models without BF16), in 10¹² per second. Vendors also print twice that, "with sparsity". */
  readonly teraflops: number;
  /** Memory bandwidth in 10¹² bytes per second. */
  readonly terabytesPerSecond: number;
}

/** The words of a model's name, and its peaks. The first entry whose words are all in the name counts. */
const PEAKS: readonly (readonly [words: string, teraflops: number, terabytesPerSecond: number])[] = [
  ["GB300", 2500, 8],
  ["GB200", 2500, 8],
  ["B300", 2250, 8],
  ["B200", 2250, 8],
  ["GH200", 989, 4],
  ["H200", 989, 4.8],
  ["H100 PCIE", 756, 2],
  ["H100 NVL", 835, 3.9],
  ["H100", 989, 3.35],
  ["H20", 148, 4],
  ["A100 PCIE", 312, 1.94],
  ["A100 40GB", 312, 1.56],
  ["A100", 312, 2],
  ["L40S", 362, 0.86],
  ["L40", 181, 0.86],
  ["L4", 121, 0.3],
  ["A40", 150, 0.7],
  ["A30", 165, 0.93],
  ["A10G", 70, 0.6],
  ["A10", 125, 0.6],
  ["V100", 125, 0.9],
  ["T4", 65, 0.32],
  ["MI355X", 2500, 8],
  ["MI325X", 1300, 6],
  ["MI300X", 1307, 5.3],
];

/** Returns the peaks of a GPU model by its canonical name; undefined for an unknown model. */
export function peaksOf(model: string): ModelPeaks | undefined {
  const words = model.toUpperCase().split(/[^A-Z0-9]+/);
  const found = PEAKS.find(([name]) => name.split(" ").every((word) => words.includes(word)));
  return found === undefined ? undefined : { teraflops: found[1], terabytesPerSecond: found[2] };
}
