export const frameFormat: string;
export function countedOf(report: string, addon: string): string;
