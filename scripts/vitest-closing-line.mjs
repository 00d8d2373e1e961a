// Closes the test output with one plain line that people and CI can read. In CI a skipped test is a failure, unless
// what it needs is not part of the test set-up: PyTorch (for torchrun), a GPU, the CUDA toolkit.
const notInSetUp = /torchrun|on a GPU|CUDA toolkit/;

export default class ClosingLine {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    const missed = [];
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state]++;
        const skipped = state === 'skipped' || state === 'pending';
        if (skipped && !notInSetUp.test(test.fullName)) missed.push(test.fullName);
      }
    }
    process.on('exit', () => {
      if (process.env.CI && missed.length > 0) {
        process.stdout.write(
          `skipped in CI, where nothing may be missing:\n${missed.join('\n')}\n`,
        );
        process.exitCode = 1;
        count.failed += missed.length;
        count.skipped -= missed.length;
      }
      const skipped = count.skipped + count.pending;
      process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`);
    });
  }
}
