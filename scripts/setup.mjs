// Makes this checkout ready to run. Uses only what Node brings, because it runs before `npm ci`.
// This file stays free of imports so that an old Node reaches the message instead of a syntax error.
const needed = 20;

if (process.platform !== 'linux') {
  console.error(`Weft runs on Linux; this is ${process.platform}.`);
  process.exitCode = 1;
} else if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(
    `Weft needs Node ${needed} or later; this is ${process.versions.node} (${process.execPath}).`,
  );
  process.exitCode = 1;
} else {
  const { main } = await import('./setup/main.mjs');
  process.exitCode = await main(process.argv.slice(2));
}
