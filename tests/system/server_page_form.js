// What the page of dragoman serve says of what a reader enters, and keeps of it: checks of server_page.js.
const assert = require('node:assert/strict');

const { PHONE } = require('./chromium_checks.js');
const { SENTENCE, answered, inPage, open, result, settled, text, write } = require('./server_page_reader.js');

const TOUCH = { viewport: PHONE, hasTouch: true, isMobile: true };

const says = (page, place, words) =>
  page.waitForFunction(([id, expected]) => document.getElementById(id).textContent.includes(expected), [place, words]);
const form = page =>
  page.evaluate(() => ['source', 'target', 'text', 'terms'].map(id => document.getElementById(id).value));
const isInWindow = (page, place) =>
  page.locator(place).evaluate(found => {
    const { top, bottom, height } = found.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
  });

// The page as it is after a reload with other settings of the server.
const withSettings = async (page, settings) => {
  await page.route('**/frontend/settings', async route => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...settings } });
  });
  await page.reload();
  await page.waitForFunction(() => document.querySelector('#file').accept);
};

// Calls `check` with a page on a telephone.
const onTelephone = async (page, check) => {
  const phone = await open(page.context().browser(), new URL(page.url()).origin, TOUCH);
  await check(phone);
  assert.deepEqual(phone.faults, []);
  await phone.context().close();
};

module.exports = {
  async 'the glossary is obeyed'(page) {
    await page.locator('summary').click();
    await page.locator('#terms').fill('garden=Lustgarten');
    await write(page, SENTENCE);
    // A model that knows nothing may not find room for a term; other tests say what becomes of terms.
    const answer = await inPage(page, { q: SENTENCE, source: 'en', target: 'de', terms: 'garden=Lustgarten' });
    assert.equal(await result(page).textContent(), answer.translatedText);
  },

  async 'a line of the glossary that is not whole yet leaves the translation as it is'(page) {
    await write(page, SENTENCE);
    const before = await result(page).textContent();
    await page.locator('summary').click();
    for (const unfinished of ['teacher', 'teacher =', '= Lehrer', 'teacher\t']) {
      const [asked] = await Promise.all([
        page.waitForRequest(request => request.url().endsWith('/translate')),
        page.locator('#terms').fill(`${unfinished}\n`),
      ]);
      assert.equal(asked.postDataJSON().terms, undefined);
      await settled(page);
      assert.equal(await result(page).textContent(), before);
      await says(page, 'terms-note', `“${unfinished.trim()}”: not used yet`);
    }
    const [asked] = await Promise.all([
      page.waitForRequest(request => request.url().endsWith('/translate')),
      page.locator('#terms').fill('garden=Lustgarten\nteacher ='),
    ]);
    assert.equal(asked.postDataJSON().terms, 'garden=Lustgarten');
    assert.equal(await page.locator('.error:visible').count(), 0);
  },

  async 'terms that the server refuses are said at the glossary, and the text is translated'(page) {
    page.expected = message => message.includes('400');
    await page.locator('summary').click();
    await page.locator('#terms').fill('gar\u0001den=Park');
    await write(page, SENTENCE);
    await says(page, 'terms-error', 'has a control character');
    const plain = await inPage(page, { q: SENTENCE, source: 'en', target: 'de' });
    assert.equal(await result(page).textContent(), plain.translatedText);
    assert.equal(await page.locator('#terms').getAttribute('aria-invalid'), 'true');
    await page.locator('#terms').fill('garden=Park');
    await says(page, 'terms-error', '');
    await page.waitForFunction(() => document.querySelector('#terms').ariaInvalid === 'false');
  },

  async 'the limit of a text is shown before it is met, and an error where the reader writes'(page) {
    await withSettings(page, { charLimit: 150 });
    await write(page, 'a dog '.repeat(20));
    assert.equal(await page.locator('#count').textContent(), '120 of 150 characters');
    let requests = 0;
    page.on('request', request => (requests += request.url().endsWith('/translate')));
    await text(page).fill('a\n'.repeat(200));
    await says(page, 'text-error', 'The text has 250 characters too many; the limit is 150 characters.');
    assert.equal(requests, 0);
    assert.equal(await page.locator('#count').textContent(), '400 of 150 characters');
    for (const top of [0, 2000]) {
      await page.evaluate(y => scrollTo(0, y), top);
      assert.ok(await isInWindow(page, '#text-error'), `scrolled to ${top}`);
    }
    await write(page, 'A dog.');
    assert.equal(await page.locator('#text-error').textContent(), '');
  },

  async 'a refusal of the server stands at its cause'(page) {
    page.expected = message => /40[03]|413/.test(message);
    await page.locator('.key').evaluate(found => (found.hidden = false));
    for (const [status, message, place] of [
      [400, 'Please contact the server operator to get an API key', 'key'],
      [403, 'Invalid API key', 'key'],
      [413, 'the request has more than 2 MiB', 'text'],
      [400, 'Invalid request: request (9 characters) exceeds text limit (5 characters)', 'text'],
    ]) {
      await page.route('**/translate', route => route.fulfill({ status, json: { error: message } }));
      await text(page).fill(`${SENTENCE} ${message}`);
      await says(page, `${place}-error`, message.replace('Invalid request: ', ''));
      assert.equal(await page.locator(`#${place}`).getAttribute('aria-invalid'), 'true');
      assert.equal(await page.locator('.error:visible').count(), 1);
      assert.ok(await isInWindow(page, `#${place}-error`));
      await page.unroute('**/translate');
    }
    await Promise.all([answered(page, await text(page).inputValue()), page.locator('#key').fill('secret')]);
    await settled(page);
    assert.equal(await page.locator('.error:visible').count(), 0);
  },

  async 'languages are exchanged with texts and terms, and a second exchange takes the first back'(page) {
    await page.locator('summary').click();
    await page.locator('#terms').fill('garden = Lustgarten\nbook\tein=Buch\nteacher =');
    await write(page, SENTENCE);
    const before = await form(page);
    assert.equal(before[0], 'auto');
    const german = await result(page).textContent();
    await page.locator('#swap').click();
    assert.deepEqual(await form(page), ['de', 'en', german, 'Lustgarten=garden\nein=Buch\tbook\nteacher =']);
    await settled(page);
    await page.locator('#swap').click();
    assert.deepEqual(await form(page), before);
    await settled(page);
    assert.equal(await result(page).textContent(), german);
    // What has been written since is not taken back.
    await page.locator('#swap').click();
    await write(page, 'Ein Hund.');
    const english = await result(page).textContent();
    await page.locator('#swap').click();
    assert.deepEqual((await form(page)).slice(0, 3), ['en', 'de', english]);
  },

  async 'languages that cannot be exchanged have no button for it'(page) {
    assert.equal(await page.locator('#swap').isDisabled(), true, 'the source is not known yet');
    await write(page, SENTENCE);
    assert.equal(await page.locator('#swap').isDisabled(), false);
  },

  async 'a reload keeps what was entered, in this tab only'(page) {
    await page.locator('summary').click();
    await page.locator('#terms').fill('garden=Lustgarten');
    await page.locator('#source').selectOption('en');
    await write(page, `${SENTENCE}\nA dog.`);
    const [entered, translation] = [await form(page), await result(page).textContent()];
    await page.reload();
    await settled(page);
    assert.deepEqual(await form(page), entered);
    assert.equal(await result(page).textContent(), translation);
    assert.equal(await page.locator('#terms').isVisible(), true);
    const { origin } = new URL(page.url());
    const other = await page.context().newPage();
    await other.goto(`${origin}/`);
    assert.equal(await text(other).inputValue(), '');
    await other.close();
    await page.goto(`${origin}/?source=en&target=de&q=A%20dog.`);
    await settled(page);
    assert.equal(await text(page).inputValue(), 'A dog.', 'an address has its own text');
    await page.locator('#clear').click();
    await page.goto(`${origin}/`);
    await page.waitForFunction(() => document.querySelector('#file').accept);
    assert.equal(await text(page).inputValue(), '');
  },

  async 'a text of several lines has other translations'(page) {
    const lines = `${SENTENCE}\n\nA dog is running.`;
    await write(page, lines);
    const answer = await inPage(page, { q: lines, source: 'en', target: 'de', alternatives: 2 });
    assert.ok(answer.alternatives.length > 0);
    assert.deepEqual(await page.locator('#alternatives li span').allTextContents(), answer.alternatives);
    await page.locator('#alternatives li button').first().click();
    assert.equal(await result(page).textContent(), answer.alternatives[0]);
  },

  async 'a text that cannot be explained says why, also to fingers'(page) {
    await onTelephone(page, async phone => {
      const [button, note] = [phone.locator('#explain'), phone.locator('#explain-note')];
      await write(phone, SENTENCE);
      assert.deepEqual([await button.isEnabled(), await note.isVisible()], [true, false]);
      await write(phone, `${SENTENCE} `.repeat(20));
      assert.equal(await button.isEnabled(), false);
      assert.equal(await note.innerText(), 'Explain takes 500 characters at most.');
      await write(phone, SENTENCE);
      await phone.locator('summary').tap();
      await phone.locator('#terms').fill('garden=Park');
      assert.equal(await note.innerText(), 'Explain works without a glossary only.');
      await phone.locator('#terms').fill('');
      await phone.route('**/translate', async route => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), pivotLanguage: 'en' } });
      });
      await write(phone, 'A dog.');
      assert.equal(await note.innerText(), 'Explain needs a model that translates directly.');
    });
  },

  async 'hints are for the pointer that there is'(page) {
    const legend = page.locator('#legend');
    await write(page, SENTENCE);
    assert.match(await legend.innerText(), /Point at a word, .* arrow keys/);
    assert.doesNotMatch(await legend.innerText(), /Tap/);
    assert.match(await page.locator('#choose-file').innerText(), /drop a file/);
    await onTelephone(page, async phone => {
      assert.equal(await phone.locator('#choose-file').innerText(), 'Open a file');
      await write(phone, SENTENCE);
      assert.match(await phone.locator('#legend').innerText(), /Tap a word of the translation to see/);
      assert.doesNotMatch(await phone.locator('#legend').innerText(), /Point|arrow/);
      await phone.locator('#result .word').first().tap();
      assert.equal(await phone.locator('#result .linked').count(), 1, 'the finger has left, the marks stay');
      assert.ok((await phone.locator('#mirror .linked').count()) >= 1);
    });
    await page.route('**/translate', async route => {
      const response = await route.fetch();
      const { translatedText } = await response.json();
      await route.fulfill({ response, json: { translatedText } }); // as for a very long line
    });
    await write(page, 'A dog.');
    assert.equal(await legend.isVisible(), false);
  },

  async 'fingers have room for what they touch'(page) {
    await onTelephone(page, async phone => {
      await phone.locator('.key').evaluate(found => (found.hidden = false));
      await phone.locator('summary').tap();
      await write(phone, SENTENCE);
      await phone.locator('#file').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('A dog.\n') });
      await phone.locator('#file-link').waitFor();
      const small = await phone.evaluate(() =>
        [...document.querySelectorAll('button, a, select, input, summary')]
          .map(found => [found.id || found.outerHTML, found.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && (box.width < 44 || box.height < 44))
          .map(([name, box]) => `${name}: ${box.width} x ${box.height}`),
      );
      assert.deepEqual(small, []);
    });
  },
};
