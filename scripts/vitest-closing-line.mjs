// Closes the test output with one plain line that people and CI can read.
export default class ClosingLine {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    process.on('exit', () => {
      const skipped = count.skipped + count.pending;
      process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`);
    });
  }
}
