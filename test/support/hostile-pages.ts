/** A page that was written to be slow to read, and the next page of the same target. */
export interface HostilePage {
  readonly name: string;
  readonly first: Buffer;
  /** The same as the first where absent. */
  readonly next?: Buffer;
}

const UTIL = "DCGM_FI_DEV_GPU_UTIL";

function lines(count: number, line: (index: number) => string): string {
  return `${Array.from({ length: count }, (_, index) => line(index)).join("\n")}\n`;
}

const gpu = (index: number, more = ""): string =>
  `{gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="node"${more}}`;

/** A name in another mix of upper and lower case: metric names are matched in any case. */
function casesOf(name: string, index: number): string {
  return Array.from(name.toLowerCase())
    .map((letter, place) => ((index >> place) & 1 ? letter.toUpperCase() : letter))
    .join("");
}

/** Pages of about `bytes` bytes, each the worst of its kind. */
export function hostilePages(bytes: number): readonly HostilePage[] {
  const count = Math.floor(bytes / 110);
  const small = Math.floor(bytes / 30);
  const pages: Readonly<Record<string, string | readonly [first: string, next: string]>> = {
    "devices without end": lines(count, (index) => `${UTIL}${gpu(index)} 5`),
    "a pod on each of them": lines(count, (index) => `${UTIL}${gpu(0, `,pod="p-${index}"`)} 5`),
    "one GPU of its own, shared by pods without end": [
      `${UTIL}${gpu(0)} 5`,
      lines(count, (index) => `${UTIL}${gpu(0, `,pod="p-${index}"`)} 5`),
    ].join("\n"),
    "a host for each device": lines(count, (index) => `${UTIL}${gpu(index, `,node="n-${index}"`)} 5`),
    "partitions without end": lines(
      count,
      (index) => `gpu_gfx_activity{gpu_id="${index}",serial_number="S",gpu_uuid="u-${index}",hostname="node"} 5`,
    ),
    "codes without end": lines(
      count,
      (index) => `nvidia_smi_xid_last_seen_timestamp_seconds{uuid="u",xid="${index}"} ${index}`,
    ),
    "a column for each series": lines(count, (index) => `DCGM_FI_${index}${gpu(0)} 5`),
    "a device and a column for each series": lines(count, (index) => `DCGM_FI_${index}${gpu(index)} 5`),
    "names in every case of their letters": lines(count, (index) => `${casesOf(UTIL, index)}${gpu(index)} 0.5`),
    "braces that do not close": lines(small, () => `${UTIL}{gpu="0`),
    "quotes that do not close": lines(small, () => `${UTIL}{gpu="0,`),
    "one line": `${UTIL}${gpu(0, `,pod="${"p".repeat(bytes)}"`)} 5\n`,
    "one line of labels": `${UTIL}{${Array.from({ length: small }, (_, index) => `l${index}="v"`).join(",")}} 5\n`,
    "lines of labels": lines(Math.floor(bytes / 3000), (index) => {
      const labels = Array.from({ length: 150 }, (_, label) => `l${label}="${index}-${label}"`);
      return `${UTIL}{gpu="${index % 7}",${labels.join(",")}} 5`;
    }),
    "labels as long as is allowed": lines(
      Math.floor(bytes / 4200),
      (index) => `${UTIL}${gpu(index, `,pod="${"p".repeat(4000)}"`)} 5`,
    ),
    "hosts that are nearly exporters": lines(
      Math.floor(bytes / 4200),
      (index) => `${UTIL}{gpu="${index}",UUID="GPU-${index}",Hostname="${"exporter-".repeat(440)}"} 5`,
    ),
    "a value of digits without end": `${UTIL}${gpu(0)} ${"1".repeat(60_000)}x\n`.repeat(Math.floor(bytes / 60_000)),
    "comments of families": lines(small, (index) => `# HELP family_${index} x`),
    "an end of comments": lines(small, () => "# x"),
    "empty lines": "\n".repeat(bytes),
    "what is no text": lines(Math.floor(bytes / 8), () => "\u0000\u0001\u0002 x"),
    "two label blocks on each line": lines(count, (index) => `${UTIL}${gpu(index)} 5 # {a="b"} 1 1`),
    "lines that change their places": [
      lines(Math.min(count, 9_000), (index) => `${UTIL}${gpu(index)} 5`),
      lines(Math.min(count, 9_000), (index) => `${UTIL}${gpu(Math.min(count, 9_000) - 1 - index)} 5`),
    ],
    "series of one GPU that change their places": [
      lines(Math.min(count, 60_000), (index) => `DCGM_FI_X${gpu(0, `,l="${index}"`)} 5`),
      lines(Math.min(count, 60_000), (index) => `DCGM_FI_X${gpu(0, `,l="${Math.min(count, 60_000) - 1 - index}"`)} 5`),
    ],
  };
  return asPages(pages);
}

/** The same for pages of inference engines and gateways. */
export function hostileServingPages(bytes: number): readonly HostilePage[] {
  const count = Math.floor(bytes / 70);
  const tokens = "vllm:generation_tokens_total";
  const ofGateway = "litellm_input_tokens_metric_total";
  return asPages({
    "models without end": lines(count, (index) => `${tokens}{engine="0",model_name="model-${index}"} 5.0`),
    "parts without end": lines(count, (index) => `${tokens}{engine="${index}",model_name="model"} 5.0`),
    "ranks without end": lines(count, (index) => `sglang:num_running_reqs{model_name="m",tp_rank="${index}"} 5.0`),
    "tenants without end": lines(count, (index) => `${ofGateway}{model="m",team_alias="team-${index}"} 5.0`),
    "users without end in one cell": lines(count, (index) => `${ofGateway}{model="m",team="t",user="u-${index}"} 5.0`),
    "addresses instead of tenants": lines(count, (index) => `${ofGateway}{model="m",team="a${index}@b.example"} 5.0`),
    "a tenant that is nearly an address": lines(
      Math.floor(bytes / 4200),
      (index) => `${ofGateway}{model="m",team="${"@a.".repeat(1330)}${index}"} 5.0`,
    ),
    "buckets without end": lines(count, (index) => `vllm:request_queue_time_seconds_bucket{le="${index}"} 5.0`),
    "names of vLLM without end": lines(count, (index) => `vllm:metric_${index}{model_name="m"} 5.0`),
    "a program's families without end": `python_info 1.0\n${lines(count, (index) => `# HELP family_${index} x`)}`,
    "models that change their places": [
      lines(Math.min(count, 9_000), (index) => `${tokens}{model_name="m-${index}"} 5.0`),
      lines(Math.min(count, 9_000), (index) => `${tokens}{model_name="m-${Math.min(count, 9_000) - 1 - index}"} 5.0`),
    ],
  });
}

function asPages(
  pages: Readonly<Record<string, string | readonly [first: string, next: string]>>,
): readonly HostilePage[] {
  return Object.entries(pages).map(([name, page]) =>
    typeof page === "string"
      ? { name, first: Buffer.from(page) }
      : { name, first: Buffer.from(page[0]), next: Buffer.from(page[1]) },
  );
}
