// Works with the page of dragoman serve as a reader does, in Chromium. Started by server_page.py.
//
// Usage: node server_page.js MODULES CHROMIUM ADDRESS [FOLDER for screenshots]
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const { ARGUMENTS, DESKTOP, PHONE, Runner, expectWellMade } = require('./chromium_checks.js');
const { SENTENCE, answered, drop, inPage, open, result, settled, text, write } = require('./server_page_reader.js');

const [modules, executablePath, address, screenshots] = process.argv.slice(2);
const { chromium } = require(path.join(modules, 'playwright-core'));
const axe = fs.readFileSync(path.join(modules, 'axe-core', 'axe.min.js'), 'utf8');

const checks = {
  ...require('./server_page_files.js'),
  ...require('./server_page_form.js'),
  async 'a text is translated while it is typed'(page) {
    await Promise.all([answered(page, SENTENCE), text(page).pressSequentially(SENTENCE)]);
    await settled(page);
    const answer = await inPage(page, { q: SENTENCE, source: 'auto', target: 'de', alternatives: 2 });
    assert.equal(await result(page).textContent(), answer.translatedText);
    assert.deepEqual(
      await page.locator('#alternatives li span').allTextContents(),
      answer.alternatives,
    );
    assert.match(await page.locator('#status').textContent(), /English \(\d+ %\)/);
    assert.equal(await result(page).getAttribute('lang'), 'de');
  },

  async 'a few requests are made for many keys'(page) {
    let requests = 0;
    page.on('request', request => (requests += request.url().endsWith('/translate')));
    const typed = text(page).evaluate((field, sentence) => {
      for (const letter of sentence) {
        field.value += letter;
        field.dispatchEvent(new Event('input'));
      }
    }, SENTENCE);
    await Promise.all([answered(page, SENTENCE), typed]);
    await settled(page);
    assert.equal(requests, 1);
  },

  async 'an answer that comes too late is dropped'(page) {
    let first = true;
    await page.route('**/translate', async route => {
      const late = first;
      first = false;
      if (late) await new Promise(done => setTimeout(done, 1200));
      await route.continue().catch(() => {});
    });
    await text(page).fill('A dog is running.');
    await page.waitForTimeout(500);
    await write(page, SENTENCE);
    await page.waitForTimeout(1500);
    const answer = await inPage(page, { q: SENTENCE, source: 'en', target: 'de' });
    assert.equal(await result(page).textContent(), answer.translatedText);
  },

  async 'an answer is dropped when a key follows its request'(page) {
    await page.route('**/translate', async route => {
      const response = await route.fetch();
      if (route.request().postDataJSON().q !== SENTENCE) return route.fulfill({ response });
      // The key comes, and the answer before the next request.
      await page.evaluate(() => {
        const field = document.querySelector('#text');
        field.value = `Now ${field.value}`;
        field.dispatchEvent(new Event('input'));
      });
      await route.fulfill({ response }).catch(() => {});
    });
    await page.evaluate(() => {
      window.shown = 0;
      new MutationObserver(() => ++window.shown).observe(document.querySelector('#result'), { childList: true });
    });
    await Promise.all([answered(page, `Now ${SENTENCE}`), text(page).fill(SENTENCE)]);
    await settled(page);
    assert.equal(await page.evaluate(() => window.shown), 1, 'the answer to the text before was shown');
  },

  async 'words that belong together are marked, by pointer and by keyboard'(page) {
    await write(page, SENTENCE);
    const linked = within => page.locator(`${within} .linked`).count();
    const words = page.locator('#result .word');
    const linkedTarget = await page.evaluate(() => {
      const sources = [...document.querySelectorAll('#mirror .word')];
      return sources.length;
    });
    assert.ok(linkedTarget > 0, 'no word of the source is linked');
    await words.first().hover();
    assert.equal(await linked('#result'), 1);
    assert.equal(await linked('#mirror'), 1);
    await page.mouse.move(2, 2);
    assert.equal(await linked('main'), 0);
    const box = await page.locator('#mirror .word').first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    assert.equal(await linked('#mirror'), 1);
    assert.ok((await linked('#result')) >= 1);
    await page.mouse.move(2, 2);
    await result(page).focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await words.first().getAttribute('class').then(c => c.includes('linked')), true);
  },

  async 'words of which the model is less sure are shaded'(page) {
    await write(page, SENTENCE);
    const { wordScores } = await inPage(page, { q: SENTENCE, source: 'en', target: 'de', word_scores: true });
    const unsure = wordScores.filter(([, , probability]) => probability < 0.5).length;
    assert.equal(await page.locator('#result .unsure').count(), unsure);
    assert.equal(await page.locator('#legend').isVisible(), true);
  },

  async 'the copy of the text lies exactly under the text'(page) {
    await write(page, `${SENTENCE}\n\n${SENTENCE.repeat(12)}\n`);
    const [field, mirror] = await page.evaluate(() =>
      ['text', 'mirror'].map(id => {
        const found = document.getElementById(id);
        const { x, y, width, height } = found.getBoundingClientRect();
        return { x, y, width, height, inner: found.scrollHeight };
      }),
    );
    assert.deepEqual(field, mirror);
  },

  async 'another translation can be taken'(page) {
    await write(page, SENTENCE);
    const [best, other] = [await result(page).textContent(), await page.locator('#alternatives li span').first().textContent()];
    await page.locator('#alternatives li button').first().click();
    assert.equal(await result(page).textContent(), other);
    assert.equal(await page.locator('#alternatives li span').first().textContent(), best);
  },

  async 'the translation is copied'(page) {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await write(page, SENTENCE);
    await page.locator('#copy').click();
    await page.waitForFunction(() => document.querySelector('#copy').textContent === 'Copied');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await result(page).textContent());
  },

  async 'without a clipboard the translation is copied too, and the focus stays'(page) {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await write(page, SENTENCE);
    await page.evaluate(() => {
      document.addEventListener('copy', () => (window.copied = document.activeElement.value));
    });
    await page.locator('#copy').click();
    await page.waitForFunction(() => document.querySelector('#copy').textContent === 'Copied');
    assert.equal(await page.evaluate(() => window.copied), await result(page).textContent());
    assert.equal(await page.evaluate(() => document.activeElement.id), 'copy');
  },

  async 'right-to-left text begins on the right'(page) {
    await text(page).fill('مرحبا بالعالم');
    assert.equal(await text(page).evaluate(found => getComputedStyle(found).direction), 'rtl');
    assert.equal(await page.locator('#mirror').evaluate(found => getComputedStyle(found).direction), 'rtl');
  },

  async 'a busy server is asked again, an error is said'(page) {
    let refusals = 0;
    page.expected = message => /503|500/.test(message);
    await page.route('**/translate', route =>
      refusals++ === 0
        ? route.fulfill({ status: 503, headers: { 'Retry-After': '1' }, body: '{"error": "busy"}' })
        : route.continue(),
    );
    await write(page, SENTENCE);
    assert.equal(await page.locator('#error').isVisible(), false);
    await page.unroute('**/translate');
    await page.route('**/translate', route => route.fulfill({ status: 500, body: '{"error": "it is broken"}' }));
    await text(page).fill('A dog.');
    await page.waitForFunction(() => document.querySelector('#error').textContent === 'it is broken');
  },

  async 'while it must wait for the server the page says for how long, and why'(page) {
    const refuse = seconds => async route => {
      const headers = { 'Retry-After': String(seconds) };
      await route.fulfill({ status: 429, headers, body: '{"error": "Slowdown: 20 per 1 minute"}' });
    };
    const says = (place, seconds) =>
      page.waitForFunction(([id, expected]) => document.getElementById(id).textContent === expected, [
        place, `Slowdown: 20 per 1 minute; the next try is in ${seconds} s.`,
      ]);
    page.expected = message => message.includes('429');
    await page.route('**/translate_file', refuse(2));
    await drop(page, 'a.md', [...Buffer.from('A dog.\n')]);
    await says('file-state', 2);
    await page.unroute('**/translate_file');
    await page.locator('#file-link').waitFor();
    await page.route('**/translate', refuse(57));
    await text(page).fill(SENTENCE);
    await says('error', 57);
    await page.unroute('**/translate');
    await page.route('**/translate', refuse(2));
    await text(page).fill('A dog.');
    await says('status', 2);
    await drop(page, 'a.txt', [...Buffer.from('A dog.\n')]);
    await says('file-state', 2);
    await page.unroute('**/translate');
    await page.locator('#file-link').waitFor();
    await settled(page);
    assert.equal(await page.locator('#error').isVisible(), false);
  },

  async 'the explanation of a translation opens beside the page'(page) {
    await write(page, `${SENTENCE} A dog is running.`);
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Explain' }).click(),
    ]);
    const faults = [];
    popup.on('pageerror', error => faults.push(String(error)));
    popup.on('console', message => message.type() === 'error' && faults.push(message.text()));
    await popup.waitForFunction(() => document.querySelectorAll('#lines svg path').length > 0);
    const explained = await popup.evaluate(() => explanation.sentences.map(one => one.source));
    assert.equal(explained.join(' '), `${SENTENCE} A dog is running.`);
    assert.equal(await popup.evaluate(() => origin), 'null', 'it may ask the server');
    const [download] = await Promise.all([
      popup.waitForEvent('download'),
      popup.locator('[data-figure=lines] .save').click(),
    ]);
    assert.match(download.suggestedFilename(), /\.svg$/);
    await popup.locator('.query').first().click();
    assert.deepEqual(faults, []);
    await popup.close();
  },

  async 'a page that comes with a text asks with the key'(page) {
    await page.evaluate(() => sessionStorage.setItem('dragoman.key', 'secret'));
    await page.route(`${address}/`, async route => {
      const response = await route.fetch();
      const filled = (await response.text()).replace('</textarea>', `${SENTENCE}</textarea>`);
      await route.fulfill({ response, body: filled });
    });
    const [asked] = await Promise.all([
      page.waitForRequest(request => request.url().endsWith('/translate')),
      page.reload(),
    ]);
    assert.equal(asked.postDataJSON().q, SENTENCE);
    assert.equal(asked.postDataJSON().api_key, 'secret');
    await settled(page);
  },

  async 'an empty text has an empty translation'(page) {
    await write(page, SENTENCE);
    await page.locator('#clear').click();
    await page.waitForTimeout(300);
    assert.equal(await result(page).textContent(), '');
    assert.equal(await page.locator('#alternatives').isVisible(), false);
    assert.equal(await page.locator('body.old').count(), 0);
  },
};

const checkWithoutScripts = async browser => {
  const page = await open(browser, address, { javaScriptEnabled: false });
  await text(page).fill(`${SENTENCE} <b>`);
  await page.locator('#target').selectOption('de');
  const loaded = page.waitForEvent('load'); // with its style sheet, which hides what needs scripts
  await page.getByRole('button', { name: 'Translate' }).click();
  await loaded;
  assert.ok((await result(page).textContent()).length > 0);
  assert.equal(await text(page).inputValue(), `${SENTENCE} <b>`);
  assert.equal(await page.locator('#swap').isVisible(), false);
  assert.equal(await text(page).evaluate(field => getComputedStyle(field).overflowY), 'auto', 'a long text cannot be scrolled');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Explain' }).click(),
  ]);
  assert.match(await popup.content(), /"dragoman explanation page"/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
};

// What axe-core finds, and that nothing is wider than the page.
const checkLook = async (browser, name, viewport, colorScheme) => {
  const page = await open(browser, address, { viewport, colorScheme, bypassCSP: true });
  await page.locator('summary').click();
  await page.locator('#terms').fill('garden=Lustgarten');
  await write(page, `${SENTENCE} Two children are playing with the dog.`);
  await page.locator('#result .word').nth(1).hover();
  if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  await page.mouse.move(1, 1);
  await page.locator('#file').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('A dog.\n') });
  await page.locator('#file-link').waitFor();
  await expectWellMade(page, axe);
  await page.context().close();
};

const main = async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const checked = new Runner();
  for (const [name, check] of Object.entries(checks))
    await checked.run(name, async () => {
      const page = await open(browser, address, { acceptDownloads: true });
      await check(page);
      assert.deepEqual(page.faults, []);
      await page.context().close();
    });
  await checked.run('without JavaScript the form translates', () => checkWithoutScripts(browser));
  for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE }))
    for (const scheme of ['light', 'dark'])
      await checked.run(`it looks well: ${size}, ${scheme}`, () => checkLook(browser, `${size}-${scheme}`, viewport, scheme));
  await browser.close();
  process.exit(checked.failed ? 1 : 0);
};

main();
