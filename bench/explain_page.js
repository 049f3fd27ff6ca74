// Opens a page of dragoman explain in Chromium, works with it, and prints the times as JSON. Started by explain_page.
//
// Usage: node explain_page.js MODULES CHROMIUM PAGE ROUNDS
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const { ARGUMENTS, DESKTOP } = require('../tests/system/chromium_checks.js');

const [modules, executablePath, file, rounds] = process.argv.slice(2);
const { chromium } = require(path.join(modules, 'playwright-core'));

// In the page: how long it takes from each event until the page is laid out again.
const measure = async rounds => {
  const all = selector => [...document.querySelectorAll(selector)];
  const query = i => {
    const queries = all('.query');
    return queries[(i + 1) % queries.length];
  };
  const click = target => target.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  const button = (selector, i) => {
    const buttons = all(`${selector} button`);
    return buttons[i % buttons.length];
  };
  const actions = {
    hover: i => query(i).dispatchEvent(new PointerEvent('pointerover', { bubbles: true })),
    head: i => click(button('#heads', i + 2)),
    layer: i => click(button('#layers', i)),
    token: i => click(query(i)),
  };
  const times = {};
  byId('attention').scrollIntoView();
  for (const [name, act] of Object.entries(actions)) {
    const found = [];
    for (let i = 0; i < rounds; ++i) {
      const begin = performance.now();
      act(i);
      document.body.getBoundingClientRect(); // lays the page out
      found.push(performance.now() - begin);
      await new Promise(done => setTimeout(done, 300)); // drawings out of sight are made meanwhile
    }
    found.sort((a, b) => a - b);
    times[name] = { median: found[Math.floor(rounds / 2)], most: found[rounds - 1] };
  }
  return times;
};

const main = async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const page = await browser.newPage({ viewport: DESKTOP });
  const begin = performance.now();
  await page.goto(pathToFileURL(path.resolve(file)).href);
  await page.waitForFunction(() => drawings.every(drawing => !drawing.stale));
  const open = performance.now() - begin;
  const tokens = await page.evaluate(() => [tokensOf('source').length, tokensOf('output').length]);
  console.log(JSON.stringify({ open, tokens, ...(await page.evaluate(measure, Number(rounds))) }));
  await browser.close();
};

main();
