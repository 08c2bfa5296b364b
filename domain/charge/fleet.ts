/**
 * The cluster name of costs that belong to no cluster: unused parts of commitments and fixed costs, and owned machines outside all
 * clusters. They are charged, corrected and closed like a cluster's hour.
 */
export const FLEET = "";
