export function judgeAudit(
  report: unknown,
  shipped: readonly string[],
): { failed: boolean; lines: string[] };
