// What a kernel writes into another process's GPU memory, against the peak of the path between them.
//   npm run bench:ipc
// On one GPU, exits with 1 when 128 blocks reach less than 93 % of that GPU's own memset in the same run at 1 GiB, or
// when the shape is not the known one: the grid decides, the block hardly; also when the largest size did not fit, or
// 128 blocks were not among those asked for. Without a GPU nothing is judged.
import { sizeText, weftJson } from './weft-json.mjs';

const required = 93;
const asked = process.argv.slice(2);
const { rows } = weftJson(['ipc', ...asked]);
const passed = rows.filter((row) => row.outcome === 'passed');
for (const { column, bytes, labels, gbps, busbwPercent } of passed) {
  const shape = labels.grid === undefined ? '' : `${labels.grid}x${labels.block}`;
  const share = busbwPercent === null ? '' : `${busbwPercent.toFixed(1)} % of the peak`;
  const rate = `${(gbps / 8).toFixed(1)} GB/s`;
  console.log(
    `${sizeText(bytes).padEnd(6)} ${column.padEnd(11)} ${shape.padEnd(9)} ${rate.padStart(12)} ${share}`,
  );
}
const most = Math.max(...rows.map((row) => row.bytes));
const at = (grid, block) =>
  passed.find(
    (row) =>
      row.column === 'Kernel' &&
      row.bytes === most &&
      row.labels.grid === grid &&
      row.labels.block === block,
  );
const wide = at(128, 256);
const path = passed[0]?.labels.path;
if (path !== 'same GPU') {
  console.log(`path: ${path ?? 'none'}: nothing to judge`);
  process.exit(0);
}
if (!wide) {
  console.log(`128x256 at ${sizeText(most)} was not measured: nothing to judge`);
  process.exit(1);
}
const [one, sixteen, tall] = [at(1, 256), at(16, 256), at(16, 1024)];
const gridGain = sixteen && one ? sixteen.gbps / one.gbps : undefined;
const blockGain = tall && sixteen ? tall.gbps / sixteen.gbps : undefined;
console.log(
  `128x256 at ${sizeText(most)}: ${wide.busbwPercent.toFixed(1)} % of memset (required: ${required} %); ` +
    `16 blocks for 1: ${gridGain?.toFixed(1)} times; 1024 threads for 256: ${blockGain?.toFixed(2)} times`,
);
const shaped = gridGain === undefined || blockGain === undefined || gridGain > 4 * blockGain;
process.exit(wide.busbwPercent >= required && shaped ? 0 : 1);
