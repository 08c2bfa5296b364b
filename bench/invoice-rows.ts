import { gzipSync } from "node:zlib";

/** The columns of a CUR 2.0 export with the parts that most exports have. */
const COLUMNS =
  `bill_bill_type bill_billing_entity bill_billing_period_end_date bill_billing_period_start_date bill_invoice_id bill_invoicing_entity
bill_payer_account_id bill_payer_account_name cost_category discount identity_line_item_id identity_time_interval line_item_availability_zone
line_item_blended_cost line_item_blended_rate line_item_currency_code line_item_legal_entity line_item_line_item_description
line_item_line_item_type line_item_net_unblended_cost line_item_normalization_factor line_item_normalized_usage_amount line_item_operation
line_item_product_code line_item_resource_id line_item_tax_type line_item_unblended_cost line_item_unblended_rate line_item_usage_account_id
line_item_usage_account_name line_item_usage_amount line_item_usage_end_date line_item_usage_start_date line_item_usage_type
pricing_currency pricing_lease_contract_length pricing_public_on_demand_cost pricing_public_on_demand_rate pricing_purchase_option
pricing_rate_code pricing_rate_id pricing_term pricing_unit product product_instance_family product_instance_type product_location
product_operation product_product_family product_region_code product_servicecode product_sku product_usagetype reservation_effective_cost
reservation_reservation_a_r_n resource_tags savings_plan_offering_type savings_plan_savings_plan_a_r_n
savings_plan_savings_plan_effective_cost savings_plan_total_commitment_to_date savings_plan_used_commitment`.split(
    /\s+/,
  );

interface Usage {
  readonly product: string;
  readonly usageType: string;
  readonly instanceType: string;
  readonly resource: string;
  readonly cost: string;
}

/** One of a hundred lines is of a GPU machine. */
function usageOf(number: number): Usage {
  const id = (number * 2_654_435_761).toString(16).padStart(17, "0").slice(0, 17);
  const machine = (type: string, cost: string): Usage => ({
    product: "AmazonEC2",
    usageType: `USE2-BoxUsage:${type}`,
    instanceType: type,
    resource: `i-${id}`,
    cost,
  });
  if (number % 100 === 0) return machine("p5.48xlarge", "98.3200000000");
  const other = { instanceType: "", cost: "0.0000412300" };
  switch (number % 4) {
    case 0:
      return machine("m5.2xlarge", "0.3840000000");
    case 1:
      return { ...other, product: "AmazonS3", usageType: "USE2-Requests-Tier1", resource: `bucket-${number % 500}` };
    case 2:
      return { ...other, product: "AmazonEC2", usageType: "USE2-EBS:VolumeUsage.gp3", resource: `vol-${id}` };
    default:
      return {
        ...other,
        product: "AWSLambda",
        usageType: "USE2-Lambda-GB-Second-ARM",
        resource: `arn:aws:lambda:us-east-2:444455556666:function:f-${number % 900}`,
      };
  }
}

function rowOf(number: number): string {
  const { product, usageType, instanceType, resource, cost } = usageOf(number);
  const day = String(1 + (number % 28)).padStart(2, "0");
  const hour = String(number % 23).padStart(2, "0");
  const values: Readonly<Record<string, string>> = {
    bill_bill_type: "Anniversary",
    bill_billing_entity: "AWS",
    bill_billing_period_start_date: "2026-03-01T00:00:00.000Z",
    bill_billing_period_end_date: "2026-04-01T00:00:00.000Z",
    bill_payer_account_id: "111122223333",
    bill_payer_account_name: "Example, Inc.",
    cost_category: '{"team":"platform"}',
    discount: "{}",
    identity_line_item_id: `${(number * 40_503).toString(36)}qv7rn2x6yq3zk5w${number.toString(36)}`,
    identity_time_interval: `2026-03-${day}T${hour}:00:00Z/2026-03-${day}T23:00:00Z`,
    line_item_availability_zone: "us-east-2b",
    line_item_blended_cost: cost,
    line_item_blended_rate: cost,
    line_item_currency_code: "USD",
    line_item_legal_entity: "Amazon Web Services, Inc.",
    line_item_line_item_description: `$${cost} per unit of ${usageType}`,
    line_item_line_item_type: "Usage",
    line_item_net_unblended_cost: cost,
    line_item_operation: "RunInstances",
    line_item_product_code: product,
    line_item_resource_id: resource,
    line_item_unblended_cost: cost,
    line_item_unblended_rate: cost,
    line_item_usage_account_id: "444455556666",
    line_item_usage_account_name: "gpu-platform",
    line_item_usage_amount: "1.0000000000",
    line_item_usage_start_date: `2026-03-${day}T${hour}:00:00.000Z`,
    line_item_usage_end_date: `2026-03-${day}T23:00:00.000Z`,
    line_item_usage_type: usageType,
    pricing_currency: "USD",
    pricing_public_on_demand_cost: cost,
    pricing_term: "OnDemand",
    pricing_unit: "Hrs",
    product: `{"product_name":"${product}","region":"us-east-2"}`,
    product_instance_type: instanceType,
    product_region_code: "us-east-2",
    product_servicecode: product,
    resource_tags: `{"user_team":"team-${number % 40}","user_env":"prod"}`,
  };
  return COLUMNS.map((column) => quoted(values[column] ?? "")).join(",");
}

function quoted(value: string): string {
  return /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The head of a report, and a block of rows, each a member of a gzip file: the block can be repeated. */
export function reportMembers(rows: number): {
  readonly head: Buffer;
  readonly block: Buffer;
  readonly plainBytes: number;
} {
  const text = Array.from({ length: rows }, (_, number) => `${rowOf(number)}\n`).join("");
  return {
    head: gzipSync(`${COLUMNS.join(",")}\n`),
    block: gzipSync(text),
    plainBytes: Buffer.byteLength(text),
  };
}
