// The parts that the checks of pages in Chromium have in common.
const assert = require('node:assert/strict');

exports.DESKTOP = { width: 1280, height: 900 };
exports.PHONE = { width: 390, height: 844 };
exports.ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// No wider than the window, nothing that axe-core (its source as text) finds fault with, and no faults noted.
exports.expectWellMade = async (page, axe) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'wider than the page');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ')}`), []);
  assert.deepEqual(page.faults, []);
};

// Runs named checks and says how each ended. `failed` counts.
exports.Runner = class {
  failed = 0;

  async run(name, check) {
    try {
      await check();
      console.log(`ok: ${name}`);
    } catch (error) {
      ++this.failed;
      console.log(`FAILED: ${name}: ${error.message}`);
    }
  }
};
