// Asks the registry for known vulnerabilities of what the package ships: its dependencies and what is bundled in it.
// Fails from "high" on. What only builds or tests Weft is named, but does not fail. Where the registry does not
// answer, nothing is audited: that is said, and passes.
//   npm run audit
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const failing = ['high', 'critical'];

/** What to print, and whether it is a failure. `report`: what npm printed; `shipped`: names of packages. */
export function judgeAudit(report, shipped) {
  const found = Object.values(report?.vulnerabilities ?? {});
  if (report?.vulnerabilities === undefined) {
    const why = report?.statusCode ?? report?.error?.code ?? 'no answer';
    return { failed: false, lines: [`audit: nothing was audited: no registry answered (${why})`] };
  }
  const named = ({ name, severity, range }) => `${name} ${range} (${severity})`;
  const bad = found.filter(
    ({ name, severity }) => failing.includes(severity) && shipped.includes(name),
  );
  const others = found.filter((one) => !bad.includes(one));
  return {
    failed: bad.length > 0,
    lines: [
      `audit: ${shipped.length} shipped packages, ${bad.length} with a known vulnerability of level high or critical`,
      ...bad.map((one) => `audit: shipped: ${named(one)}`),
      ...others.map((one) => `audit: not shipped, or below high: ${named(one)}`),
    ],
  };
}

function reportOf(root) {
  const patience = ['--fetch-retries=0', '--fetch-timeout=10000'];
  const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only', ...patience], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(import.meta.dirname ?? fileURLToPath(new URL('.', import.meta.url)), '..');
  const bill = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'));
  const shipped = bill.components.filter(({ purl }) => purl).map(({ name }) => name);
  const { failed, lines } = judgeAudit(reportOf(root), shipped);
  for (const line of lines) console.log(line);
  process.exitCode = failed ? 1 : 0;
}
